"""Laws of the Transformer for every build, in float64."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import watching
from regard.base.faults import Fault
from regard.base.recipe import check
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import PRESETS, TransformerOptions

BUILDS = [
    {"norm": norm, "positions": positions, "activation": activation}
    for norm, positions in product(("before", "after"), ("sinusoidal", "learned", "rotary", "none"))
    for activation in ("relu" if norm == "after" else "gelu",)
]
SIZES = {"encoder_layers": 2, "decoder_layers": 3, "width": 16, "feed_forward": 24, "heads": 4, "dropout": 0.2}


def build(shared: bool = True, **more: Any) -> Transformer:
    torch.manual_seed(1)
    options = check(TransformerOptions, SIZES | {"longest": 20} | more)
    return Transformer(options, 30, 30 if shared else 25, shared, pad=0).double().eval()


def batch() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    source = torch.randint(4, 25, (3, 7), generator=generator)
    target = torch.randint(4, 25, (3, 6), generator=generator)
    return source, torch.tensor([7, 5, 2]), target


def states(model: Transformer, source: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
    return model.write(target, model.read(source, lengths), [])[0]


@pytest.fixture(params=BUILDS, ids=lambda build: "-".join(build.values()))
def model(request: pytest.FixtureRequest) -> Transformer:
    return build(**request.param)


@pytest.mark.one_in(3)
def test_cached_is_uncached(model: Transformer) -> None:
    source, lengths, target = batch()
    memory, past, outputs = model.read(source, lengths), [], []
    for place in range(target.shape[1]):
        new, past = model.write(target[:, place : place + 1], memory, past)
        outputs.append(new)
    torch.testing.assert_close(torch.cat(outputs, 1), states(model, source, lengths, target))


@pytest.mark.one_in(3)
def test_padding_changes_nothing(model: Transformer) -> None:
    source, lengths, target = batch()
    together = states(model, source, lengths, target)
    for row in range(3):
        length = int(lengths[row])
        alone = states(model, source[row : row + 1, :length], lengths[row : row + 1], target[row : row + 1])
        torch.testing.assert_close(alone[0], together[row])


@pytest.mark.one_in(3)
def test_a_later_token_never_changes_an_earlier_output(model: Transformer) -> None:
    source, lengths, target = batch()
    before = states(model, source, lengths, target)
    target[:, 4] = (target[:, 4] + 1) % 25
    after = states(model, source, lengths, target)
    torch.testing.assert_close(after[:, :4], before[:, :4])
    assert not torch.allclose(after[:, 4:], before[:, 4:])


@pytest.mark.one_in(3)
def test_watched_is_unwatched_and_sees_every_head(model: Transformer) -> None:
    source, lengths, target = batch()
    plain = states(model, source, lengths, target)
    with watching(model) as gazes:
        torch.testing.assert_close(states(model, source, lengths, target), plain)
    assert [gaze.where for gaze in gazes] == [
        "encoder.0.self_look.look",
        "encoder.1.self_look.look",
        *(f"decoder.{n}.{kind}.look" for n in range(3) for kind in ("self_look", "cross")),
    ]
    assert gazes[-1].weights.shape == (3, 4, 6, 7)
    assert (gazes[-1].looks_from, gazes[-1].looks_at) == ("target", "source")
    assert (gazes[-1].weights[2, :, :, 2:] == 0).all()  # padding is never looked at


@pytest.mark.one_in(3)
def test_a_beam_shares_its_sentence(model: Transformer) -> None:
    """Three rows per sentence over one memory match three copies of the memory."""
    source, lengths, target = batch()
    rows = torch.cat([target, target.flip(0), target.flip(1)])[torch.tensor([0, 3, 6, 1, 4, 7, 2, 5, 8])]
    shared, _ = model.write(rows, model.read(source, lengths), [])
    copied = states(model, source.repeat_interleave(3, 0), lengths.repeat_interleave(3), rows)
    torch.testing.assert_close(shared, copied)


def test_without_positions_a_sentence_is_a_bag() -> None:
    source, lengths, _ = batch()
    order = torch.randperm(7, generator=torch.Generator().manual_seed(0))
    blind, sighted = build(positions="none"), build()
    first = slice(0, 1)  # the row without padding
    torch.testing.assert_close(
        blind.encode(source[first][:, order], lengths[first]), blind.encode(source, lengths)[first][:, order]
    )
    moved = sighted.encode(source[first][:, order], lengths[first])
    assert not torch.allclose(moved, sighted.encode(source, lengths)[first][:, order])


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_agrees_with_torch_transformer() -> None:
    """Torch's own layers with the same weights give the same states: the blocks are the published ones."""
    for norm in ("before", "after"):
        ours = build(norm=norm, dropout=0.0)
        theirs = torch.nn.Transformer(
            16, 4, 2, 3, 24, 0.0, batch_first=True, norm_first=norm == "before", dtype=torch.float64
        ).eval()
        _copy(ours, theirs, norm)
        source, lengths, target = batch()
        padding = torch.arange(7) >= lengths[:, None]
        embedded = ours.source_places(ours.source_embedding(source)), ours.target_places(ours.target_embedding(target))
        expected = theirs(
            *embedded,
            tgt_mask=torch.nn.Transformer.generate_square_subsequent_mask(6, dtype=torch.float64),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        torch.testing.assert_close(states(ours, source, lengths, target), expected)


@torch.no_grad()
def _copy(ours: Transformer, theirs: torch.nn.Transformer, norm: str) -> None:
    def heads(mine: Any, other: torch.nn.MultiheadAttention) -> None:
        other.in_proj_weight.copy_(torch.cat([mine.to_query.weight, mine.to_key_value.weight]))
        other.in_proj_bias.copy_(torch.cat([mine.to_query.bias, mine.to_key_value.bias]))
        other.out_proj.load_state_dict(mine.out.state_dict())

    blocks = [
        *zip(ours.encoder, theirs.encoder.layers, strict=True),
        *zip(ours.decoder, theirs.decoder.layers, strict=True),
    ]
    for mine, other in blocks:
        heads(mine.self_look, other.self_attn)
        norms = [mine.around_self.norm, mine.around_feed_forward.norm]
        if hasattr(mine, "cross"):
            heads(mine.cross, other.multihead_attn)
            norms.insert(1, mine.around_cross.norm)
        for number, layer_norm in enumerate(norms, 1):
            getattr(other, f"norm{number}").load_state_dict(layer_norm.state_dict())
        other.linear1.load_state_dict(mine.feed_forward.inner.state_dict())
        other.linear2.load_state_dict(mine.feed_forward.outer.state_dict())
    if norm == "before":
        theirs.encoder.norm.load_state_dict(ours.encoder_norm.state_dict())
        theirs.decoder.norm.load_state_dict(ours.decoder_norm.state_dict())
    else:
        theirs.encoder.norm = theirs.decoder.norm = None  # torch adds one that the paper lacks


def test_tying() -> None:
    tied, untied, apart = build(), build(tied=False), build(shared=False)
    assert tied.out.weight is tied.target_embedding.weight is tied.source_embedding.weight
    assert untied.out.weight is not untied.target_embedding.weight
    assert apart.out.weight is apart.target_embedding.weight is not apart.source_embedding.weight
    assert apart.logits(torch.zeros(2, 16).double()).shape == (2, 25)


def test_sharing_embeddings_need_not_follow_the_tokenisers() -> None:
    apart = build(shared=True, shared_embeddings=False)
    assert apart.source_embedding is not apart.target_embedding
    options = check(TransformerOptions, SIZES | {"shared_embeddings": True})
    together = Transformer(options, 30, 30, False, pad=0)
    assert together.source_embedding is together.target_embedding
    with pytest.raises(Fault, match="30 source tokens and 25 target tokens cannot share one matrix"):
        Transformer(options, 30, 25, False, pad=0)


def test_an_output_bias_is_added_and_not_learnt() -> None:
    model = build(output_bias=True)
    states = torch.randn(2, 16).double()
    assert "output_bias" not in dict(model.named_parameters())
    torch.testing.assert_close(model.logits(states), states @ model.out.weight.T)
    assert model.output_bias is not None
    model.output_bias[7] = 5.0
    expected = states @ model.out.weight.T
    expected[:, 7] += 5
    torch.testing.assert_close(model.logits(states), expected)


def test_a_decoder_may_differ_from_its_encoder() -> None:
    model = build(decoder_heads=2, decoder_feed_forward=40)
    assert (model.encoder[0].self_look.heads, model.encoder[0].feed_forward.inner.out_features) == (4, 24)
    assert (model.decoder[0].self_look.heads, model.decoder[0].cross.heads) == (2, 2)
    assert model.decoder[0].feed_forward.inner.out_features == 40
    source, lengths, target = batch()
    with watching(model) as gazes:
        states(model, source, lengths, target)
    assert gazes[-1].weights.shape == (3, 2, 6, 7)
    assert model.cost(1)["weights"] == 2 * 4 + 6 * 2


def test_activations_on_paper() -> None:
    """For −1 and 2: relu 0 and 2; swish x·σ(x), −0.2689 and 1.7616; gelu x·Φ(x), −0.1587 and 1.9545."""
    values = {"relu": (0.0, 2.0), "swish": (-0.2689, 1.7616), "gelu": (-0.1587, 1.9545)}
    for name, expected in values.items():
        activations = build(activation=name).encoder[0].feed_forward.activation(torch.tensor([-1.0, 2.0]))
        torch.testing.assert_close(activations, torch.tensor(expected), atol=1e-4, rtol=0)


@pytest.mark.parametrize("option", ["dropout", "attention_dropout", "feed_forward_dropout"])
def test_each_dropout_drops_in_training(option: str) -> None:
    off = {"dropout": 0.0, "attention_dropout": 0.0, "feed_forward_dropout": 0.0}
    model, plain = build(**off | {option: 0.5}).train(), build(**off).train()
    arguments = batch()
    assert not torch.allclose(states(model, *arguments), states(plain, *arguments))
    torch.testing.assert_close(states(model.eval(), *arguments), states(plain, *arguments))


def test_presets_are_the_published_sizes() -> None:
    base = check(TransformerOptions, {"preset": "base"})
    assert (base.encoder_layers, base.width, base.feed_forward, base.heads) == (6, 512, 2048, 8)
    sizes = {name: tuple(preset.values()) for name, preset in PRESETS.items()}
    assert sizes["tiny"] == (4, 4, 128, 256, 4)
    assert sizes["small"] == (3, 3, 256, 1024, 4)
    assert sizes["iwslt"] == (6, 6, 512, 1024, 4)
    assert sizes["big"] == (6, 6, 1024, 4096, 16)
    with torch.device("meta"):
        big = Transformer(check(TransformerOptions, {"preset": "big"}), 37_000, 37_000, True, pad=0)
    assert 209e6 < sum(parameter.numel() for parameter in big.parameters()) < 217e6  # 213 million in the paper


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"width": 18}, "width 18 cannot be shared out among 4 heads"),
        ({"width": 15, "heads": 3}, "width 15 is odd"),
        ({"decoder_heads": 3}, "width 16 cannot be shared out among 3 heads"),
        ({"decoder_heads": 1, "key_value_heads": 2}, "1 heads cannot share 2 heads of keys and values"),
        ({"width": 12, "heads": 4, "positions": "rotary"}, "a head has 3 coordinates"),
        ({"preset": "tyni"}, "preset is 'tyni', expected one of 'tiny', 'small'"),
        ({"dropout": 1.0}, "dropout is 1.0, expected less than 1"),
    ],
)
def test_impossible_builds_are_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check(TransformerOptions, SIZES | table)


def test_cost_on_paper() -> None:
    """One token: every matrix once (tied output included), and one weight for each of 8 attentions of 4 heads."""
    model = build()
    matrices = sum(p.numel() for p in model.parameters() if p.dim() == 2)
    looking = 2 * 8 * 1 * 16
    assert model.cost(1) == {
        "multiplications": matrices + looking,
        "attention_share": looking / (matrices + looking),
        "weights": 8 * 4,
    }
    assert model.cost(10)["weights"] == 100 * 8 * 4
