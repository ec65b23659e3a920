"""Positions: the published formula, and the properties of rotary positions."""

import math

import pytest
import torch

from regard.attention.positions import Learned, Sinusoidal, alibi_bias, alibi_slopes, rotate, sinusoids


def test_the_published_formula() -> None:
    table = sinusoids(torch.arange(3), 4)
    for place in range(3):
        expected = [math.sin(place), math.cos(place), math.sin(place / 100), math.cos(place / 100)]
        torch.testing.assert_close(table[place], torch.tensor(expected))


def test_a_later_beginning_is_the_same_table_further_on() -> None:
    embedded = torch.zeros(1, 5, 8)
    torch.testing.assert_close(Sinusoidal()(embedded)[:, 2:], Sinusoidal()(embedded[:, 2:], first=2))
    learned = Learned(9, 8)
    torch.testing.assert_close(learned(embedded)[:, 2:], learned(embedded[:, 2:], first=2))


def test_rotated_products_depend_on_distance_alone() -> None:
    query, key = torch.randn(1, 1, 1, 8, dtype=torch.float64), torch.randn(1, 1, 1, 8, dtype=torch.float64)
    near = rotate(query, 5) @ rotate(key, 3).mT
    far = rotate(query, 105) @ rotate(key, 103).mT
    torch.testing.assert_close(near, far, atol=1e-5, rtol=0)  # the angles are float32
    assert not torch.allclose(near, rotate(query, 6) @ rotate(key, 3).mT)
    torch.testing.assert_close(rotate(query, 7).norm(), query.norm())


def test_more_tokens_than_learned_places_are_refused() -> None:
    with pytest.raises(ValueError, match="4 learned places, but 5 tokens"):
        Learned(4, 8)(torch.zeros(1, 5, 8))


def test_alibi_slopes_are_the_published_ones() -> None:
    eight = [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    torch.testing.assert_close(alibi_slopes(8), torch.tensor(eight))
    torch.testing.assert_close(alibi_slopes(4), torch.tensor([1 / 4, 1 / 16, 1 / 64, 1 / 256]))
    torch.testing.assert_close(alibi_slopes(1), torch.tensor([1 / 256]))


def test_other_counts_take_every_other_slope_of_twice_as_many() -> None:
    torch.testing.assert_close(alibi_slopes(6), torch.tensor([1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]))
    torch.testing.assert_close(alibi_slopes(3), torch.tensor([1 / 16, 1 / 256, 1 / 4]))


def test_alibi_counts_the_distance_to_either_side() -> None:
    bias = alibi_bias(1, torch.arange(1, 3), torch.arange(4)) * 256
    assert bias.tolist() == [[[[-1, 0, -1, -2], [-2, -1, 0, -1]]]]
