"""Heads: parity with torch's own, and every way to build them."""

from typing import Any

import pytest
import torch
from attention_cases import MASKS, SIDES, draw
from torch import Tensor, nn

from regard.attention import Causal, Lengths, Mask, watching
from regard.attention.heads import HeadOptions, MultiHead, extend_cache
from regard.attention.masks import as_tensor

BUILDS = {
    "published": HeadOptions(),
    "grouped": HeadOptions(key_value_heads=2),
    "single": HeadOptions(key_value_heads=1),
    "keys are values": HeadOptions(shared_key_value=True),
    "keys are values, rotary": HeadOptions(shared_key_value=True, positions="rotary"),
    "averaged": HeadOptions(join="averaged"),
    "averaged, keys are values": HeadOptions(join="averaged", shared_key_value=True),
    "averaged, single": HeadOptions(join="averaged", key_value_heads=1),
    "dot": HeadOptions(score="dot"),
    "bilinear": HeadOptions(score="bilinear"),
    "bilinear, grouped, rotary": HeadOptions(score="bilinear", key_value_heads=2, positions="rotary"),
    "additive": HeadOptions(score="additive"),
    "additive, grouped": HeadOptions(score="additive", key_value_heads=2),
    "rotary": HeadOptions(positions="rotary"),
    "alibi": HeadOptions(positions="alibi"),
    "alibi, single, additive": HeadOptions(positions="alibi", key_value_heads=1, score="additive"),
}
every_build = pytest.mark.parametrize("options", BUILDS.values(), ids=BUILDS.keys())


def build(options: HeadOptions | None = None, width: int = 16, heads: int = 4) -> MultiHead:
    torch.manual_seed(0)
    return MultiHead(width, heads, **SIDES, options=options).double()


def looked(heads: MultiHead, states: Tensor, mask: Mask | None = None) -> Tensor:
    return heads(states, heads.remember(states), mask)


@torch.no_grad()
def as_torch(ours: MultiHead) -> nn.MultiheadAttention:
    theirs = nn.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64)
    nn.init.normal_(ours.out.bias)
    theirs.in_proj_weight.copy_(torch.cat([ours.to_query.weight, ours.to_key_value.weight]))
    theirs.in_proj_bias.copy_(torch.cat([ours.to_query.bias, ours.to_key_value.bias]))
    theirs.out_proj.load_state_dict(ours.out.state_dict())
    return theirs


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_every_mask_agrees_with_torch(mask: Mask | None) -> None:
    ours = build(width=12, heads=3)
    theirs, states, memory = as_torch(ours), draw(2, 7, 12), draw(2, 7, 12, seed=1)
    allowed = torch.ones(2, 3, 7, 7, dtype=torch.bool)
    if mask is not None:
        allowed = as_tensor(mask, 7, 7, states.device).expand(2, 3, 7, 7)
    # Torch's mask means "may not look", and a query that may look nowhere gives NaN. Ours gives zeros.
    expected, weights = theirs(states, memory, memory, attn_mask=~allowed.flatten(0, 1), average_attn_weights=False)
    with watching(ours) as gazes:
        output = ours(states, ours.remember(memory), mask)
    torch.testing.assert_close(gazes[0].weights, weights.nan_to_num(0.0))
    seen = allowed.any(-1).all(1)  # by every head
    torch.testing.assert_close(output[seen], expected[seen])
    lost = ~allowed.any(-1).any(1)
    assert torch.equal(output[lost], ours.out.bias.expand_as(output[lost]))


def test_lengths_are_torchs_key_padding_mask() -> None:
    ours = build(width=12, heads=3)
    states, memory, lengths = draw(2, 5, 12), draw(2, 6, 12, seed=1), torch.tensor([6, 4])
    padding = torch.arange(6) >= lengths[:, None]
    expected, _ = as_torch(ours)(states, memory, memory, key_padding_mask=padding)
    torch.testing.assert_close(ours(states, ours.remember(memory), Lengths(lengths)), expected)


@every_build
def test_cached_is_uncached(options: HeadOptions) -> None:
    heads, states = build(options), draw(2, 6, 16)
    whole = looked(heads, states, Causal())
    cache, outputs = None, []
    for first, last in ((0, 1), (1, 2), (2, 5), (5, 6)):
        cache = extend_cache(cache, heads.remember(states[:, first:last], first))
        outputs.append(heads(states[:, first:last], cache, Causal(), first))
    torch.testing.assert_close(torch.cat(outputs, 1), whole)


@every_build
def test_watched_is_unwatched(options: HeadOptions) -> None:
    heads, states = build(options), draw(2, 6, 16)
    plain = looked(heads, states, Lengths(torch.tensor([6, 3])))
    with watching(heads) as gazes:
        assert torch.equal(looked(heads, states, Lengths(torch.tensor([6, 3]))), plain)
    assert gazes[0].weights.shape == (2, 4, 6, 6)
    assert (gazes[0].weights[1, :, :, 3:] == 0).all()


@every_build
def test_padding_changes_nothing(options: HeadOptions) -> None:
    heads, states = build(options), draw(2, 6, 16)
    together = looked(heads, states, Lengths(torch.tensor([6, 3])))
    torch.testing.assert_close(looked(heads, states[1:, :3]), together[1:, :3])


@every_build
def test_only_without_positions_an_order_is_nothing(options: HeadOptions) -> None:
    heads, states, order = build(options), draw(2, 6, 16), torch.tensor([3, 1, 5, 0, 4, 2])
    moved = looked(heads, states[:, order])
    assert torch.allclose(moved, looked(heads, states)[:, order]) == (options.positions == "none")


def test_every_build_is_another() -> None:
    states = draw(1, 6, 16)
    outputs = [looked(build(options), states) for options in BUILDS.values()]
    for number, one in enumerate(outputs):
        assert not any(torch.allclose(one, other) for other in outputs[number + 1 :])


def test_grouped_heads_are_copied_heads() -> None:
    grouped, copied = build(HeadOptions(key_value_heads=2)), build()
    with torch.no_grad():
        for name in ("weight", "bias"):
            parts = getattr(grouped.to_key_value, name).chunk(2)
            spread = [part.unflatten(0, (2, 4)).repeat_interleave(2, 0).flatten(0, 1) for part in parts]
            getattr(copied.to_key_value, name).copy_(torch.cat(spread))
        copied.to_query.load_state_dict(grouped.to_query.state_dict())
        copied.out.load_state_dict(grouped.out.state_dict())
    states = draw(2, 6, 16)
    torch.testing.assert_close(looked(grouped, states, Causal()), looked(copied, states, Causal()))
    assert grouped.remember(states).keys.shape == (2, 2, 6, 4)


def test_shared_keys_are_values() -> None:
    heads, states = build(HeadOptions(shared_key_value=True)), draw(2, 6, 16)
    cache = heads.remember(states)
    assert torch.equal(cache.keys, cache.values)
    assert heads.to_key_value.out_features == 16
    turned = build(HeadOptions(shared_key_value=True, positions="rotary")).remember(states)
    assert torch.equal(turned.values, cache.values)  # a value has no position
    assert not torch.equal(turned.keys, turned.values)


def test_averaged_heads_are_a_mean_of_full_width() -> None:
    heads, states = build(HeadOptions(join="averaged")), draw(2, 6, 16)
    cache = heads.remember(states)
    assert cache.values.shape == (2, 4, 6, 16)
    with watching(heads) as gazes:
        output = heads(states, cache)
    torch.testing.assert_close(output, (gazes[0].weights @ cache.values).mean(1))


def test_alibi_lowers_the_scores_of_distant_keys() -> None:
    """With 4 heads the slopes are ¼, 1/16, 1/64, 1/256."""
    heads, states = build(HeadOptions(positions="alibi")), draw(1, 5, 16)
    cache = heads.remember(states)
    query = heads.to_query(states).unflatten(-1, (4, 4)).transpose(1, 2)
    distance = (torch.arange(5)[:, None] - torch.arange(5)).abs().double()
    slopes = torch.tensor([1 / 4, 1 / 16, 1 / 64, 1 / 256]).double()
    scores = query @ cache.keys.mT / 2 - slopes[:, None, None] * distance
    with watching(heads) as gazes:
        heads(states, cache)
    torch.testing.assert_close(gazes[0].weights, scores.softmax(-1))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # 9 pairs, each with 16 multiplications for the scores of all heads and 16 to mix the values
        (HeadOptions(), 9 * 32),
        (HeadOptions(key_value_heads=2), 9 * 32),
        (HeadOptions(join="averaged"), 9 * (16 + 64)),
        (HeadOptions(join="averaged", shared_key_value=True), 9 * (64 + 64)),
        (HeadOptions(score="bilinear"), 9 * 32 + 3 * 4 * 16),  # 3 keys of 4 heads times a 4 × 4 matrix
        (HeadOptions(score="additive", key_value_heads=2), 9 * 32 + 3 * (4 + 2) * 16),
    ],
)
def test_multiplications_on_paper(options: HeadOptions, expected: int) -> None:
    assert build(options).multiplications(3) == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"key_value_heads": 3}, "4 heads cannot share 3 heads of keys and values evenly"),
        ({"score": "location"}, "'location' follows the previous look, but heads look from all places at once"),
        ({"score": "mixed"}, "'mixed' follows the previous look"),
    ],
)
def test_impossible_heads_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        build(HeadOptions(**options))
    with pytest.raises(ValueError, match="width 14 cannot be shared out among 4 heads"):
        build(width=14)
