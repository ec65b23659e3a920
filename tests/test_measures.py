"""Measures: they add like tallies, know which direction is better, and may have several members."""

from math import inf, nan

import pytest

from regard.protocols import Better, Measure, Tally, mean


def test_measures_add_as_their_tallies_do() -> None:
    """Two right of four plus one of one is three of five, not the mean of the means."""
    total = Measure(Tally((2, 4), mean), "higher", "per word") + Measure(Tally((1, 1), mean), "higher", "per word")
    assert (total.value, total.members, total.deviation) == (0.6, (0.6,), 0.0)
    assert (total.better, total.signature) == ("higher", "per word")


def test_members_are_added_each_to_its_own_and_their_mean_is_the_value() -> None:
    """The first member has 1 and 3 of 4 right, the second has 4 and 4."""
    batches = [
        Measure.of_members([Tally((right, 4), mean) for right in members], "higher") for members in ((1, 4), (3, 4))
    ]
    total = batches[0] + batches[1]
    assert (total.members, total.value, total.deviation) == ((0.5, 1.0), 0.75, 0.25)


@pytest.mark.parametrize(
    ("better", "value", "best", "expected"),
    [
        ("lower", 1.0, None, True), ("lower", 1.0, 2.0, True), ("lower", 2.0, 2.0, False), ("lower", nan, None, False),
        ("higher", 3.0, 2.0, True), ("higher", 1.0, 2.0, False), ("higher", inf, 2.0, False),
    ],
)  # fmt: skip
def test_better_is_lower_or_higher_and_never_a_number_that_is_none(
    better: Better, value: float, best: float | None, expected: bool
) -> None:
    assert Measure.of_value(value, better).improves(value, best) is expected
