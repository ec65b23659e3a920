"""Measure a task on a split of its data: its own measures over all batches, and validation."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regard.base.faults import Fault
from regard.base.recipe import Recipe
from regard.families import task_class, with_article
from regard.hardware.memory import in_pieces
from regard.metrics import Score
from regard.metrics.significance import Sums
from regard.protocols import ChoosesMember, Divisible, Measure, Measures, MeasuresRows, Tally
from regard.training.ranks import ALONE, Ranks
from regard.training.snapshot import Validation


class Validator:
    """Measures a task on its validation data with the task's own measures."""

    def __init__(self, task: Any, recipe: Recipe, ranks: Ranks = ALONE) -> None:
        self.task, self.recipe, self.ranks = task, recipe, ranks

    @classmethod
    def names(cls, recipe: Recipe) -> list[str]:
        """Return the names of its metrics."""
        return list(task_class(recipe).MEASURES)

    def __call__(self) -> Validation:
        if isinstance(self.task, ChoosesMember):
            self.task.choose_member()
        measures = self.measure("valid")
        return Validation(measures, [score.as_dict() for score in scores_of(measures, "valid")])

    def measure(self, split: str, names: Sequence[str] = ()) -> dict[str, Measure]:
        """Measure a whole split; costly metrics only if `names` lists them or is empty."""
        return measure_split(self.task, split, self.ranks)

    @torch.no_grad()
    def sums(self, split: str, names: Sequence[str]) -> dict[str, Sums]:
        """Return each example's share of the sums of these metrics; empty if the task cannot tell."""
        task = self.task
        if not isinstance(task, MeasuresRows):
            return {}
        rows: dict[str, list[np.ndarray]] = {name: [] for name in names}
        finish: dict[str, Callable[..., float]] = {}
        for batch in task.batches(split, seed=0, epoch=0, start=0):
            row_sums = task.sums_of_rows(batch)
            for name in names:
                rows[name].append(row_sums[name].double().cpu().numpy())
            finish = finish or {name: measure.tally.finish for name, measure in task.measure(batch).items()}
        return {name: Sums(np.concatenate(rows[name]), partial(_finish_total, finish[name])) for name in names}

    @torch.no_grad()
    def timed(self, most: float) -> tuple[float, float]:
        """Estimate the seconds that a validation takes for the task's measures and for writing outputs.

        Each is estimated from a part of the validation data, in about `most` seconds.
        """
        return self._time_measuring(most), 0.0

    def _time_measuring(self, most: float) -> float:
        spent, measured, batches = 0.0, 0, 0
        for batch in self.task.batches("valid", seed=0, epoch=0, start=0):
            batches += 1
            if not measured or (
                spent < most and self.ranks.size == 1
            ):  # all ranks must measure the same number of batches
                spent += seconds_of(partial(measure_in_pieces, self.task, batch), most)
                measured += 1
        return spent / max(measured, 1) * batches

    def closing_files(self, folder: Path, device: str) -> dict[str, bytes]:
        """Return further files for the model folder, once its weights are final."""
        return {}


def refuse_unmeasured(recipe: Recipe, names: Sequence[str], by: type[Validator] = Validator) -> None:
    """Refuse metrics that models of this kind do not have."""
    measures = by.names(recipe)
    for name in names:
        if name not in measures:
            model = with_article(recipe.family).capitalize()
            raise Fault(f"{model} is measured by {', '.join(measures)}, not by '{name}'.")


def seconds_of(work: Callable[[], object], most: float) -> float:
    """Return the seconds that some work takes; it is done twice if the first time took less than `most` seconds.

    The first time may include set-up that the second does not need.
    """
    began = time.monotonic()
    work()
    if (first := time.monotonic() - began) >= most:
        return first
    work()
    return time.monotonic() - began - first


def _finish_total(finish: Callable[..., float], total: list[float]) -> float:
    return finish(*total)


@torch.no_grad()
def measure_split(task: Any, split: str, ranks: Ranks = ALONE) -> dict[str, Measure]:
    """Return the task's own measures over a whole split; ranks take turns at the batches."""
    measured: list[tuple[int, list[dict[str, Measure]]]] = []
    for number, batch in enumerate(task.batches(split, seed=0, epoch=0, start=0)):
        if number % ranks.size == ranks.rank:
            measured.append((number, measure_in_pieces(task, batch)))
    if ranks.size == 1:
        return add_measures(piece for _, pieces in measured for piece in pieces)
    own_sums = [[number, [_sums(piece) for piece in pieces]] for number, pieces in measured]
    in_order = sorted((entry for entries in ranks.gather(own_sums) for entry in entries), key=itemgetter(0))
    like = add_measures(piece for _, pieces in measured for piece in pieces)
    for number, pieces in in_order:
        if any(
            sums.keys() - like.keys() for sums in pieces
        ):  # a measure that only other ranks have is measured here too
            batch = next(iter(task.batches(split, seed=0, epoch=0, start=number)))
            like = add_measures(measure_in_pieces(task, batch)) | like
    return add_measures(_measures(sums, like) for _, pieces in in_order for sums in pieces)


def _sums(measures: dict[str, Measure]) -> dict[str, list[list[float]]]:
    """Return the sums of each measure, followed by those of each of its members."""
    return {
        name: [list(map(float, tally.sums)) for tally in (measure.tally, *measure.by_member)]
        for name, measure in measures.items()
    }


def _measures(sums: dict[str, list[list[float]]], like: dict[str, Measure]) -> dict[str, Measure]:
    """Return measures with these sums, otherwise like `like`."""
    measures = {}
    for name, (whole, *members) in sums.items():
        template, finish = like[name], like[name].tally.finish
        by_member = tuple(Tally(tuple(member_sums), finish) for member_sums in members)
        measures[name] = replace(template, tally=Tally(tuple(whole), finish), by_member=by_member)
    return measures


def add_measures(batches: Iterable[dict[str, Measure]]) -> dict[str, Measure]:
    """Add up the measures of several batches."""
    measures: dict[str, Measure] = {}
    for batch_measures in batches:
        for name, measure in batch_measures.items():
            measures[name] = measures[name] + measure if name in measures else measure
    return measures


def measure_in_pieces(task: Measures, batch: Any) -> list[dict[str, Measure]]:
    """Measure a task on a batch, or on pieces of it, which add up, if there is not enough memory."""
    return in_pieces(task.measure, batch, _halves)


def _halves(batch: Any) -> Any:
    return batch.split(2) if isinstance(batch, Divisible) and batch.rows > 1 else ()


def scores_of(measures: dict[str, Measure], split: str | None) -> list[Score]:
    """Return measures as scores for a model folder; the last sum of a tally is its number of items."""
    return [
        Score(
            name,
            measure.value,
            measure.signature,
            measure.items,
            split,
            measure.deviation if len(measure.members) > 1 else None,
            measure.members if len(measure.members) > 1 else (),
        )
        for name, measure in measures.items()
    ]
