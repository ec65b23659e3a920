"""Filters before sampling, by hand: the probabilities 0.4, 0.3, 0.2, 0.1 and what remains of them."""

import math

import pytest
import torch
from torch import Tensor

from regard.decoding.filters import distribution, min_p, temper, top_k, top_p, typical
from regard.decoding.options import SamplingOptions


def logs(*probabilities: float) -> Tensor:
    return torch.tensor([probabilities], dtype=torch.float64).log()


def left(log_probabilities: Tensor) -> list[float]:
    return pytest.approx(log_probabilities[0].exp().tolist())


FOUR = logs(0.1, 0.4, 0.2, 0.3)


def test_temperature_is_a_power() -> None:
    assert left(temper(FOUR, 0.5)) == [0.01 / 0.3, 0.16 / 0.3, 0.04 / 0.3, 0.09 / 0.3]
    roots = [math.sqrt(0.1), math.sqrt(0.4), math.sqrt(0.2), math.sqrt(0.3)]
    assert [root / sum(roots) for root in roots] == left(temper(FOUR, 2.0))


@pytest.mark.parametrize("temperature", [0.0, 1e-300, 1e-9])
def test_temperature_towards_nothing_leaves_the_best(temperature: float) -> None:
    assert left(temper(FOUR, temperature)) == [0, 1, 0, 0]


def test_top_k() -> None:
    assert left(top_k(FOUR, 2)) == [0, 4 / 7, 0, 3 / 7]
    assert left(top_k(FOUR, 9)) == [0.1, 0.4, 0.2, 0.3]
    assert left(top_k(logs(0.25, 0.25, 0.25, 0.25), 2)) == [0.5, 0.5, 0, 0]  # of ties the smaller tokens


def test_top_p_is_the_fewest_that_reach_it() -> None:
    assert left(top_p(FOUR, 0.4)) == [0, 1, 0, 0]
    assert left(top_p(FOUR, 0.41)) == [0, 4 / 7, 0, 3 / 7]
    assert left(top_p(FOUR, 0.7)) == [0, 4 / 7, 0, 3 / 7]
    assert left(top_p(FOUR, 0.71)) == [0, 4 / 9, 2 / 9, 3 / 9]
    assert left(top_p(FOUR, 1e-9)) == [0, 1, 0, 0]  # never empty


def test_min_p_is_relative_to_the_best() -> None:
    assert left(min_p(FOUR, 0.5)) == [0, 4 / 9, 2 / 9, 3 / 9]
    assert left(min_p(FOUR, 0.51)) == [0, 4 / 7, 0, 3 / 7]
    assert left(min_p(FOUR, 1.0)) == [0, 1, 0, 0]


def test_typical_may_leave_out_the_most_probable() -> None:
    """(0.5, 0.25, 0.25) has 1.5 bits of entropy, equally far from 1 and 2 bits; (0.6, 0.2, 0.1, 0.1) is less even.

    Its entropy is 1.571 bits and its surprises are 0.737, 2.322 and 3.322: 0.2 is nearest, then 0.6.
    """
    assert left(typical(logs(0.6, 0.2, 0.1, 0.1), 0.2)) == [0, 1, 0, 0]
    assert left(typical(logs(0.6, 0.2, 0.1, 0.1), 0.21)) == [0.75, 0.25, 0, 0]


def test_what_is_impossible_stays_so() -> None:
    log_probabilities = logs(0.0, 0.5, 0.5)
    for filtered in (
        temper(log_probabilities, 0.7),
        top_k(log_probabilities, 3),
        top_p(log_probabilities, 0.99),
        min_p(log_probabilities, 0.01),
        typical(log_probabilities, 0.99),
    ):
        assert left(filtered) == [0, 0.5, 0.5]


def test_the_order_is_temperature_then_top_k_then_top_p() -> None:
    """Squared and normalised: 1/30, 16/30, 4/30, 9/30. The best two have 16/25 and 9/25, and one alone reaches 0.6."""
    options = SamplingOptions(temperature=0.5, top_k=2, top_p=0.6)
    assert left(distribution(FOUR, options)) == [0, 1, 0, 0]
    assert left(distribution(FOUR, SamplingOptions(temperature=0.5, top_k=2, top_p=0.65))) == [0, 16 / 25, 0, 9 / 25]


@pytest.mark.parametrize(
    "change", [{"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.5}, {"min_p": 0.6}, {"typical": 0.3}]
)
def test_every_option_changes_what_is_drawn_from(change: dict[str, float]) -> None:
    plain = distribution(FOUR, SamplingOptions())
    assert torch.equal(plain, FOUR.log_softmax(-1))
    assert not torch.equal(distribution(FOUR, SamplingOptions(**change)), plain)
