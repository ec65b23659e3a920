"""The packed pass of a Transformer compared with its plain one."""

from itertools import product
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from regard.base.recipe import check
from regard.models.freezing import freeze
from regard.models.transformer import packing
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.models.transformer.packed import forced_states
from regard.models.transformer.packing import PackedSentences
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.objectives import Consistent, CrossEntropy, forced
from regard.tasks.translation.packs import PackedBatch, pack

SIZES = {"encoder_layers": 1, "decoder_layers": 1, "width": 32, "feed_forward": 24, "heads": 2, "dropout": 0.0}
BUILDS = [
    {"norm": "before", "encoder_layers": 2, "decoder_layers": 2, "tied": False, "decoder_feed_forward": 40},
    {"norm": "after", "positions": "learned"},
    {"norm": "before", "positions": "none"},
]


def build(device: torch.device, **chosen: object) -> Transformer:
    torch.manual_seed(0)
    return Transformer(check(TransformerOptions, SIZES | chosen), 19, 19, True, pad=0).to(device)


def some_pairs() -> PairBatch:
    return pairs_of([5, 1, 3], [2, 7, 4])


def few_pairs() -> PairBatch:
    """Return pairs of a few tokens for tests with many kernels, each of which is slow in the interpreter."""
    return pairs_of([3, 1], [1, 4])


def pairs_of(*sides: list[int]) -> PairBatch:
    lengths = [torch.tensor(side) for side in sides]
    tables = [torch.randint(4, 19, (len(row_lengths), int(row_lengths.max()))) for row_lengths in lengths]
    for table, row_lengths in zip(tables, lengths, strict=True):
        for row, length in enumerate(row_lengths.tolist()):
            table[row, length:] = 0
    (source, target), (source_lengths, target_lengths) = tables, lengths
    return PairBatch.of(source, source_lengths, target, target_lengths, begin=1)


def packed(pairs: PairBatch, device: torch.device, capacity: int = 16) -> PackedBatch:
    packed = pack(pairs, capacity, device)
    assert packed is not None
    return packed


def real_states(network: Transformer, batch: PackedBatch) -> Tensor:
    return forced(network, batch).states[: batch.tokens]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("objective", "chosen"),
    [
        *product([CrossEntropy(0.1)], BUILDS[:2]),
        pytest.param(CrossEntropy(0.1), BUILDS[2], marks=pytest.mark.long),
        (Consistent(0.1, 2.0), BUILDS[1]),
        pytest.param(Consistent(0.1, 2.0), BUILDS[2], marks=pytest.mark.long),
    ],
)
def test_loss_and_gradients_are_those_of_the_plain_pass(
    objective: CrossEntropy | Consistent, chosen: dict[str, object], device: torch.device
) -> None:
    network, pairs = build(device, **chosen), few_pairs()
    parameters = list(network.parameters())
    fast, plain = objective(network, packed(pairs, device), None), objective(network, pairs.to(device), None)
    assert fast.count == plain.count == 5
    torch.testing.assert_close(fast.total, plain.total, rtol=1e-5, atol=1e-5)
    gradients = (torch.autograd.grad(loss.total, parameters) for loss in (fast, plain))
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.long
@pytest.mark.parametrize(
    "frozen",
    [
        ["embeddings", "encoder"],
        pytest.param(["embeddings"], marks=pytest.mark.long),
        pytest.param(["encoder"], marks=pytest.mark.long),
        pytest.param(["decoder"], marks=pytest.mark.long),
    ],
)
def test_what_is_frozen_has_no_gradient_and_the_rest_that_of_the_plain_pass(
    frozen: list[str], device: torch.device
) -> None:
    network, pairs = build(device, norm="before"), few_pairs()
    freeze(network, frozen)
    learning = [parameter for parameter in network.parameters() if parameter.requires_grad]
    fast, plain = (CrossEntropy(0.1)(network, batch, None).total for batch in (packed(pairs, device), pairs.to(device)))
    gradients = (torch.autograd.grad(loss, learning, retain_graph=True) for loss in (fast, plain))
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
    fast.backward()
    assert all((parameter.grad is not None) == parameter.requires_grad for parameter in network.parameters())


@pytest.mark.long
def test_padding_changes_no_state(device: torch.device) -> None:
    network, pairs = build(device, norm="before"), few_pairs()
    tight, wide = (real_states(network, packed(pairs, device, capacity)) for capacity in (16, 40))
    torch.testing.assert_close(tight, wide)


def test_what_is_packed_can_be_read_off(device: torch.device) -> None:
    pairs = some_pairs()
    batch = packed(pairs, device, 40)
    source, target, targets = batch.packed
    assert source.offsets[:4].tolist() == [0, 5, 6, 9]
    assert source.places[:9].tolist() == [0, 1, 2, 3, 4, 0, 0, 1, 2]
    assert source.tokens[5] == pairs.source[1, 0]
    assert target.tokens[:3].tolist() == [1, int(pairs.target[0, 0]), 1]  # the begin token, then the target
    assert targets[:13].tolist() == pairs.target.flatten()[pairs.places].tolist()
    assert (targets[13:] == -1).all()
    assert len(target.tokens) == int(target.offsets[-1]) == 15  # a sixteenth of the capacity is 3, rounded up
    assert len(source.tokens) == int(source.offsets[-1]) == 9
    assert int(source.offsets.diff().max()) <= batch.room == 16
    assert (batch.rows, batch.tokens) == (3, 13)


def test_somewhat_more_than_the_capacity_is_packed_too(device: torch.device) -> None:
    batch = packed(some_pairs(), device, 10)  # in sizes of 1 each, a sixteenth rounded up
    assert (len(batch.packed.source.tokens), len(batch.packed.target.tokens)) == (9, 13)


def test_what_is_far_beyond_the_capacity_is_not_packed(device: torch.device) -> None:
    assert pack(some_pairs(), 6, device) is None
    assert pack(few_pairs(), 0, device) is None


def test_padding_stands_where_every_model_has_a_place(device: torch.device) -> None:
    batch = packed(some_pairs(), device, 400)  # with a sixteenth of 25 tokens, of which 9 and 13 are real
    for side, real in ((batch.packed.source, 9), (batch.packed.target, 13)):
        assert int(side.offsets[-1]) == 25
        assert (side.places[real:] == 0).all()


def test_a_packed_batch_splits_into_packed_ones(device: torch.device) -> None:
    parts = packed(some_pairs(), device).split(2)
    assert [(part.rows, part.tokens) for part in parts] == [(2, 9), (1, 4)]
    assert [len(part.packed.source.tokens) for part in parts] == [6, 3]
    assert all(part.packed.wanted.device.type == device.type for part in parts)


@pytest.mark.long
def test_the_loss_of_the_parts_is_that_of_the_whole(device: torch.device) -> None:
    network, batch = build(device, norm="before"), packed(few_pairs(), device)
    whole, *parts = (CrossEntropy(0.1)(network, pairs, None).total for pairs in (batch, *batch.split(2)))
    torch.testing.assert_close(parts[0] + parts[1], whole)


@pytest.mark.long
@pytest.mark.parametrize(
    "dropout",
    [
        "feed_forward_dropout",
        pytest.param("dropout", marks=pytest.mark.long),
        pytest.param("attention_dropout", marks=pytest.mark.long),
    ],
)
def test_each_dropout_falls_in_training_and_follows_the_seed(dropout: str, device: torch.device) -> None:
    network, batch = build(device, **{dropout: 0.5}), packed(few_pairs(), device, 16)

    def states(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return real_states(network, batch)

    one, again, other = (states(seed) for seed in (1, 1, 2))
    assert one.equal(again)
    assert not one.allclose(other)
    network.eval()
    assert states(1).equal(states(2))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # not every CPU multiplies in bf16
def test_products_take_the_precision_of_autocast(device: torch.device) -> None:
    network, batch = build(device, norm="before"), packed(few_pairs(), device)
    exact = real_states(network, batch)
    with torch.autocast(device.type, torch.bfloat16):
        lowered = real_states(network, batch)
    assert lowered.dtype == torch.bfloat16
    if device.type == "cuda":  # the interpreter misreads the bits of bf16
        torch.testing.assert_close(lowered.float(), exact, rtol=0.1, atol=0.1)


@pytest.mark.parametrize(
    "chosen",
    [
        {"score": "additive"},
        {"key_value_heads": 1},
        {"key_value_heads": 1, "heads": 1, "decoder_heads": 2},
        {"shared_key_value": True},
        {"join": "averaged"},
        {"activation": "gelu"},
        {"positions": "rotary"},
        {"heads": 4},
    ],
)
def test_what_the_kernels_cannot_do_is_left_to_the_plain_path(chosen: dict[str, object], device: torch.device) -> None:
    assert not packing._fits(build(device, **chosen).options)
    assert packing._fits(build(device).options)
    assert packing._fits(build(device, key_value_heads=2).options)


def test_without_a_gpu_the_plain_path_is_taken() -> None:
    network = build(torch.device("cpu"))
    assert not packing.serves(network, 5)


@pytest.mark.parametrize(("made_for", "longest"), [(20, 20), (1024, 128)])
def test_sentences_too_long_for_the_kernels_or_the_model_are_left_to_the_plain_path(
    made_for: int, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = build(torch.device("cpu"), longest=made_for)
    del network.out
    network.out = SimpleNamespace(weight=SimpleNamespace(is_cuda=True))  # as if it were on a GPU
    monkeypatch.setattr(packing, "available", lambda: True)
    assert packing.serves(network, longest)
    assert not packing.serves(network, longest + 1)


@pytest.mark.long
def test_a_sentence_does_not_see_its_neighbours(device: torch.device) -> None:
    network = build(device, norm="before")

    def states(first: list[int]) -> Tensor:
        tokens = torch.tensor([*first, 9, 9, 10], device=device)
        places = torch.tensor([*range(len(first)), 0, 1, 2], device=device)
        offsets = torch.tensor([0, len(first), len(first) + 3], device=device)
        both = PackedSentences(tokens, places, offsets)
        return forced_states(network, both, both, 16)[-3:]

    torch.testing.assert_close(states([5, 6]), states([7, 8, 11, 12]))
