"""Learning rates at steps a person can work out."""

import math
from typing import Any

import pytest

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.training import schedules
from regard.training.options import OptimizerOptions
from regard.training.schedules import SCHEDULES


def factor(name: str, step: int, warmup: int, steps: int, **stairs: Any) -> float:
    return schedules.factor(check(OptimizerOptions, {"schedule": name, "warmup": warmup, **stairs}), step, steps)


WITHOUT_STAIRS = [name for name in SCHEDULES if name != "stairs"]


@pytest.mark.parametrize("name", WITHOUT_STAIRS)
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


def test_stairs_fall_after_a_while_and_then_every_so_often() -> None:
    """Six epochs of ten steps at the full rate, then in each epoch five sixths of that of the epoch before."""
    stairs = {"fall_after": 60, "fall_every": 10, "fall_to": 5 / 6}
    found = [factor("stairs", step, 0, 1000, **stairs) for step in (1, 60, 61, 70, 71)]
    assert found == pytest.approx([1, 1, 5 / 6, 5 / 6, 25 / 36])
    assert factor("stairs", 5, 10, 1000, **stairs) == 0.5


def test_an_option_of_stairs_is_refused_elsewhere() -> None:
    with pytest.raises(Fault, match="fall_to is for schedule = 'stairs', not 'cosine'"):
        factor("cosine", 1, 0, 10, fall_to=0.9)
