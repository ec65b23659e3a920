"""Learning rates at steps that can be computed by hand."""

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
    """Six epochs of ten steps run at the full rate; then each epoch has five sixths of the previous rate."""
    stairs = {"fall_after": 60, "fall_every": 10, "fall_to": 5 / 6}
    factors = [factor("stairs", step, 0, 1000, **stairs) for step in (1, 60, 61, 70, 71)]
    assert factors == pytest.approx([1, 1, 5 / 6, 5 / 6, 25 / 36])
    assert factor("stairs", 5, 10, 1000, **stairs) == 0.5


def test_an_option_of_stairs_is_refused_elsewhere() -> None:
    with pytest.raises(Fault, match="fall_to is for schedule = 'stairs', not 'cosine'"):
        factor("cosine", 1, 0, 10, fall_to=0.9)


def test_a_trapezoid_stays_up_and_falls_to_the_end() -> None:
    assert factor("trapezoid", 50, 10, 100) == 1.0
    assert factor("trapezoid", 100, 10, 100) == pytest.approx(1 / 51)  # the last step still has a rate
    assert factor("trapezoid", 80, 10, 100, falls=[[80, 100]]) == 1.0
    assert factor("trapezoid", 90, 10, 99, falls=[[80, 99]]) == pytest.approx(0.5)


def test_a_fall_that_was_planned_again_goes_on_from_where_it_was() -> None:
    """The rate falls from 1 at step 80 to zero at 100; at 90, halfway, the end moves to 94 or 110."""
    for end, later in ((94, 92), (109, 100)):
        falls = [[80, 99], [90, end]]
        assert factor("trapezoid", 85, 0, end, falls=falls) == pytest.approx(0.75)
        assert factor("trapezoid", 90, 0, end, falls=falls) == pytest.approx(0.5)
        assert factor("trapezoid", later, 0, end, falls=falls) == pytest.approx(
            0.5 * (end + 1 - later) / (end + 1 - 90)
        )


def test_a_run_that_is_made_longer_falls_to_its_new_end() -> None:
    assert factor("trapezoid", 150, 0, 200, falls=[[80, 100]]) == pytest.approx(51 / 121)


def test_a_trapezoid_may_fall_before_it_has_risen() -> None:
    assert factor("trapezoid", 6, 20, 10, falls=[[4, 10]]) == pytest.approx(0.3)
    assert factor("trapezoid", 10, 20, 10, falls=[[4, 10]]) == pytest.approx(1 / 7)


@pytest.mark.parametrize("falls", [[[3]], [[5, 4]], [[-1, 4]], [[5, 9], [5, 12]], [[6, 9], [5, 12]], [[]]])
def test_falls_that_make_no_sense_are_refused(falls: list[list[int]]) -> None:
    with pytest.raises(Fault, match="falls needs pairs of a step and a later end"):
        factor("trapezoid", 1, 0, 100, falls=falls)


def test_falls_belong_to_a_trapezoid() -> None:
    with pytest.raises(Fault, match="falls is for schedule = 'trapezoid', not 'cosine'"):
        factor("cosine", 1, 0, 100, falls=[[50, 100]])
