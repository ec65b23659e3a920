"""Scores computed by hand; preparing keys changes nothing."""

import math
import re

import pytest
import torch
from attention_cases import SIDES, draw
from torch import Tensor, nn

from regard.attention import Attention, Lengths, PreparedKeys, named_score
from regard.attention.scores import (
    Additive,
    Bilinear,
    Location,
    Positive,
    Prepares,
    Score,
    compare,
    dot,
    follows,
    prepare,
    scaled_dot,
)
from regard.protocols import map_tree

QUERY, KEY = torch.tensor([[[[1.0, 2.0]]]]), torch.tensor([[[[3.0, 4.0]]]])


def every_score() -> list[Score]:
    torch.manual_seed(0)
    scores = [Bilinear(4, 4), Additive(4, 4, 3), Location(4, 4, hidden=3), Location(4, hidden=3)]
    return [dot, scaled_dot, *(score.double() for score in scores), Positive(scores[2]), Positive(dot)]


def test_products_on_paper() -> None:
    assert dot(QUERY, KEY).item() == 11
    assert scaled_dot(QUERY, KEY).item() == pytest.approx(11 / math.sqrt(2))
    bilinear = Bilinear(2, 2)
    with torch.no_grad():
        bilinear.weight.weight.copy_(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
    assert bilinear(QUERY, KEY).item() == 1 * 3 + (1 + 2) * 4


def test_additive_on_paper() -> None:
    additive = Additive(2, 2, 1)
    for linear in (additive.of_query, additive.of_key, additive.energy):
        nn.init.constant_(linear.weight, 0.1)
    assert additive(QUERY, KEY).item() == pytest.approx(0.1 * math.tanh(0.1 * (1 + 2 + 3 + 4)))


def small_location(key_depth: int | None) -> Location:
    """W q + b = 0.1 + 0.2, U f = 0.1 f, V k = 0.3 k, w = 2; the filter sees α_{i−1} + 2 α_i + 3 α_{i+1}."""
    score = Location(1, key_depth, hidden=1, filters=1, reach=1)
    with torch.no_grad():
        score.of_query.weight.fill_(0.1)
        score.of_query.bias.fill_(0.2)
        score.of_place.weight.fill_(0.1)
        score.energy.weight.fill_(2.0)
        score.filter.weight.copy_(torch.tensor([[[1.0, 2.0, 3.0]]]))
        if score.of_key is not None:
            score.of_key.weight.fill_(0.3)
    return score


def test_location_on_paper() -> None:
    query, key = torch.ones(1, 1, 1, 1), torch.tensor([1.0, 2.0, 3.0]).view(1, 1, 3, 1)
    previous = torch.tensor([0.5, 0.5, 0.0]).view(1, 1, 1, 3)
    seen = [2 * 0.5 + 3 * 0.5, 1 * 0.5 + 2 * 0.5, 1 * 0.5]
    place_alone = [2 * math.tanh(0.3 + 0.1 * f) for f in seen]
    mixed = [2 * math.tanh(0.3 + 0.1 * f + 0.3 * k) for f, k in zip(seen, (1, 2, 3), strict=True)]
    torch.testing.assert_close(small_location(None)(query, key, previous)[0, 0, 0], torch.tensor(place_alone))
    torch.testing.assert_close(small_location(1)(query, key, previous)[0, 0, 0], torch.tensor(mixed))


def test_a_first_look_comes_from_the_first_key() -> None:
    query, key = torch.ones(1, 1, 1, 1), torch.ones(1, 1, 3, 1)
    score = small_location(1)
    first = torch.tensor([1.0, 0.0, 0.0]).view(1, 1, 1, 3)
    assert torch.equal(score(query, key), score(query, key, first))
    expected = [2 * math.tanh(0.3 + 0.1 * f + 0.3) for f in (2, 1, 0)]
    torch.testing.assert_close(score(query, key)[0, 0, 0], torch.tensor(expected))


def test_location_follows_the_look_of_each_query_and_takes_no_notice_of_padding() -> None:
    score = Location(query_depth=8, key_depth=8, hidden=16).double()
    look = Attention(score, **SIDES)
    query, key, previous = draw(2, 3, 4, 8), draw(2, 3, 6, 8, seed=1), draw(2, 3, 4, 6, seed=2).softmax(-1)
    together = look.full(query, key, key, previous=previous)
    alone = look.full(query[1:, :, 2:3], key[1:], key[1:], previous=previous[1:, :, 2:3])
    torch.testing.assert_close(together.weights[1:, :, 2:3], alone.weights)
    padded = Lengths(torch.tensor([6, 4]))
    short = previous.clone()
    short[1, :, :, 4:] = 0
    weights = look.full(query, key, key, padded, short).weights[1:, :, :, :4]
    torch.testing.assert_close(
        weights, look.full(query[1:], key[1:, :, :4], key[1:, :, :4], None, short[1:, :, :, :4]).weights
    )


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("shape", [(1, 3, 4, 6), (2, 1, 4, 6), (2, 3, 1, 6), (2, 3, 4, 5), (2, 3, 4, 1)])
def test_weights_of_other_looks_are_refused(shape: tuple[int, ...]) -> None:
    """Most of these would broadcast and silently give a different answer."""
    score = Location(query_depth=8, key_depth=8, hidden=16).double()
    query, key, previous = draw(2, 3, 4, 8), draw(2, 3, 6, 8, seed=1), draw(*shape).softmax(-1)
    words = f"previous has the shape {shape}, but the looks it precedes have (2, 3, 4, 6)"
    for ask in (
        lambda: score(query, key, previous),
        lambda: Attention(score, **SIDES).full(query, key, key, None, previous),
    ):
        with pytest.raises(ValueError, match=re.escape(words)):
            ask()


def test_each_part_of_location_counts() -> None:
    query, key, previous = draw(1, 1, 1, 4), draw(1, 1, 9, 4), draw(1, 1, 1, 9).softmax(-1)

    def found(**sizes: int) -> Tensor:
        torch.manual_seed(0)
        return Location(4, 4, hidden=3, **sizes).double()(query, key, previous)

    assert not torch.allclose(found(), found(filters=3))
    assert not torch.allclose(found(), found(reach=1))


@pytest.mark.parametrize("score", every_score())
def test_prepared_is_unprepared(score: Score) -> None:
    query, key = draw(2, 3, 5, 4), draw(2, 3, 7, 4, seed=1)
    prepared = prepare(score, key)
    torch.testing.assert_close(compare(score, query, prepared), score(query, key))
    reordered: PreparedKeys = map_tree(lambda leaf: leaf.index_select(0, torch.tensor([1, 0])), prepared)
    torch.testing.assert_close(compare(score, query, reordered), score(query, key.flip(0)))


def test_who_follows() -> None:
    assert [follows(score) for score in every_score()] == [False, False, False, False, True, True, True, False]
    assert Attention(Location(4, hidden=2), **SIDES).follows
    assert not Attention(**SIDES).follows
    assert isinstance(Positive(dot), Prepares)


def test_positive_on_paper() -> None:
    assert Positive(dot)(QUERY, KEY).item() == pytest.approx(math.log(1 + math.exp(11)))
    assert Positive(dot)(-QUERY, KEY).item() == pytest.approx(math.log(1 + math.exp(-11)))


def test_scores_by_name() -> None:
    assert named_score("dot", 4, 4, 3) is dot
    assert named_score("scaled-dot", 4, 4, 3) is scaled_dot
    query, key = draw(1, 1, 2, 4), draw(1, 1, 5, 6)
    for name in ("bilinear", "additive", "location", "mixed"):
        score = named_score(name, 4, 6, 3)
        assert isinstance(score, nn.Module)
        assert score.double()(query, key).shape == (1, 1, 2, 5)
        assert follows(score) == (name in ("location", "mixed"))
    location, mixed = named_score("location", 4, 6, 3), named_score("mixed", 4, 6, 3)
    assert isinstance(location, Location)
    assert isinstance(mixed, Location)
    assert location.of_key is None
    assert mixed.of_key is not None


@pytest.mark.parametrize("name", ["dot", "scaled-dot"])
def test_products_of_different_depths_are_refused(name: str) -> None:
    with pytest.raises(
        ValueError, match=f"'{name}' multiplies .* of one depth, got 4 and 6; 'bilinear' and 'additive'"
    ):
        named_score(name, 4, 6, 3)


@pytest.mark.usefixtures("unchecked_shapes")
def test_an_unknown_score_is_refused() -> None:
    with pytest.raises(ValueError, match="no score 'cosine', only dot, scaled-dot"):
        named_score("cosine", 4, 4, 3)
