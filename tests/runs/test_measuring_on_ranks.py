"""Measuring a split on several ranks gives the same as on one, whichever batches have something to measure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from regard.measuring import measure_split
from regard.protocols import Measure, Tally, mean
from regard.training.ranks import Ranks


@dataclass
class Agreement:
    """Task whose batches are numbers; those above 10 have an additional measure."""

    numbers: list[float]

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[float]:
        yield from self.numbers[start:]

    def measure(self, batch: float) -> dict[str, Measure]:
        measures = {"error": Measure(Tally((batch, 1.0), mean), "lower")}
        return measures | ({"agreement": Measure(Tally((batch, 2.0), mean), "higher")} if batch > 10 else {})


class Recorded(Ranks):
    """One of two ranks, with the other's notes given in advance."""

    size = 2

    def __init__(self, rank: int, notes: dict[int, Any]) -> None:
        self.rank, self.notes = rank, notes

    def gather(self, note: Any) -> list[Any]:
        self.notes[self.rank] = note
        return [self.notes.get(rank, []) for rank in range(self.size)]


@pytest.mark.parametrize("numbers", [[1.0, 12.0, 3.0], [1.0, 2.0, 3.0, 14.0], [5.0], []])
def test_every_rank_finds_what_one_finds_also_of_what_it_has_not_measured_itself(numbers: list[float]) -> None:
    alone, notes = measure_split(Agreement(numbers), "valid"), dict[int, Any]()
    for rank in (0, 1):  # so that each has recorded what it measures
        measure_split(Agreement(numbers), "valid", Recorded(rank, notes))
    for rank in (0, 1):
        measures = measure_split(Agreement(numbers), "valid", Recorded(rank, notes))
        assert {name: (measure.value, measure.better) for name, measure in measures.items()} == {
            name: (measure.value, measure.better) for name, measure in alone.items()
        }
