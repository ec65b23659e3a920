"""Agreement of a map with the truth: answers on paper, and laws."""

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.seeing.trust.agreement import agreement


def test_four_units_give_the_figures_worked_out_by_hand() -> None:
    # True units 1 and 3 score 3 and 1; the others 2 and −1. They win 2 + 1 of four comparisons.
    found = agreement([2.0, 3.0, -1.0, 1.0], {1, 3})
    assert found.figures() == pytest.approx({"area": 3 / 4, "mass": 4 / 6, "top": 1.0})
    assert found.chance() == pytest.approx({"area": 0.5, "mass": 0.5, "top": 0.5})


def test_the_truth_itself_agrees_and_its_opposite_does_not() -> None:
    assert agreement([0.0, 1.0, 0.0], {1}).figures() == {"area": 1.0, "mass": 1.0, "top": 1.0}
    assert agreement([1.0, 0.0, 1.0], {1}).figures() == {"area": 0.0, "mass": 0.0, "top": 0.0}


def test_equal_scores_are_chance() -> None:
    found = agreement([2.0] * 5, [0, 4])
    assert found.figures() == pytest.approx(found.chance())


def test_a_map_without_a_positive_score_has_the_mass_of_chance() -> None:
    found = agreement([-1.0, -2.0, -3.0, -4.0], {0})
    assert (found.mass, found.area, found.top) == (0.25, 1.0, 1.0)


def test_a_map_drawn_at_random_scores_chance() -> None:
    chance = np.random.default_rng(3)
    found = [agreement(chance.uniform(size=9).tolist(), {2, 5}) for _ in range(800)]
    for figure, expected in found[0].chance().items():
        values = [one.figures()[figure] for one in found]
        assert abs(np.mean(values) - expected) < 3 * np.std(values, ddof=1) / len(values) ** 0.5


@pytest.mark.parametrize("true_units", [[], [0, 1, 2]])
def test_a_truth_that_names_all_or_nothing_is_refused(true_units: list[int]) -> None:
    with pytest.raises(Fault, match="both units that matter and units that do not"):
        agreement([1.0, 2.0, 3.0], true_units)


def test_scores_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(Fault, match="not numbers"):
        agreement([1.0, float("nan")], {0})
