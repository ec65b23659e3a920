"""Exactness in bfloat16: positions stay exact numbers, and masks may have fewer than four axes."""

import pytest
import torch

from regard.attention import Attention, watching
from regard.attention.local import LocalPredictive
from regard.attention.positions import rotate


def test_far_places_turn_as_exactly_as_near_ones() -> None:
    states = torch.ones(1, 1, 600, 64)
    coarse, exact = rotate(states.bfloat16()).float(), rotate(states)
    torch.testing.assert_close(coarse, exact, atol=0.02, rtol=0)  # the rounding error of a sum of two numbers near one


def test_a_predicted_window_is_the_same_in_bfloat16() -> None:
    torch.manual_seed(0)
    focus = LocalPredictive(8, 8, reach=5)
    query, places = torch.randn(1, 1, 40, 8), torch.arange(40)
    allowed = torch.ones(1, 1, 1, 400, dtype=torch.bool)
    focused = focus.bfloat16()(query.bfloat16(), places, allowed)
    widths = focused.allowed.sum(-1)
    assert focused.factor.dtype == torch.bfloat16
    assert ((widths >= 10) & (widths <= 11)).all()  # in low precision a distant window would hold none, or too many


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5), (4, 1, 3, 5)])
def test_a_mask_of_fewer_axes_broadcasts(shape: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(1)
    query, key, value = (torch.randn(4, 2, places, 8, generator=generator) for places in (3, 5, 5))
    mask = torch.rand(*shape, generator=generator) > 0.4
    look = Attention(looks_from="target", looks_at="source")
    whole = mask.expand(4, 2, 3, 5)
    expected = look.full(query, key, value, whole)
    torch.testing.assert_close(look(query, key, value, mask), expected.context)
    with watching(look) as gazes:
        look(query, key, value, mask)
    torch.testing.assert_close(gazes[0].weights, expected.weights)


def test_rows_are_seen_in_the_order_in_which_they_are_asked_for() -> None:
    look = Attention(lambda query, key: query @ key.mT, looks_from="target", looks_at="source")
    query = torch.randn(2, 1, 3, 4)
    with watching(look) as every:
        look(query, query, query)
    with watching(look, rows=[1, 0], queries=[2, 1, 0]) as turned:
        look(query, query, query)
    assert torch.equal(turned[0].weights, every[0].weights.flip(0, 2))
