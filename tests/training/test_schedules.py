"""Learning rates at steps a person can work out."""

import math

import pytest

from regard.training.schedules import SCHEDULES, factor


@pytest.mark.parametrize("name", SCHEDULES)
def test_warm_up_is_a_straight_line_to_one(name: str) -> None:
    assert factor(name, 1, 10, 100) == pytest.approx(0.1)
    assert factor(name, 5, 10, 100) == pytest.approx(0.5)
    assert factor(name, 10, 10, 100) == pytest.approx(1.0)


def test_afterwards() -> None:
    assert factor("inverse-sqrt", 40, 10, 100) == pytest.approx(0.5)
    assert factor("constant", 99, 10, 100) == 1
    assert factor("linear", 19, 10, 27) == pytest.approx(0.5)
    assert factor("cosine", 19, 10, 27) == pytest.approx(0.5)
    assert factor("cosine", 16, 10, 33) == pytest.approx(0.5 * (1 + math.cos(math.pi / 4)))
    assert 0 < factor("linear", 27, 10, 27) < 0.1  # the last step is not wasted


@pytest.mark.parametrize("name", SCHEDULES)
def test_no_warm_up_and_running_over_the_end_are_fine(name: str) -> None:
    assert 0 < factor(name, 1, 0, 10) <= 1
    assert 0 <= factor(name, 20, 0, 10) <= 1
