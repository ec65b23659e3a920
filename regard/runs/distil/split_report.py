"""Report on a student that is scored on a split of its data: scores, size and speed, each next to its teacher's."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from torch import nn

from regard.base.files import finite
from regard.base.model_folder import WEIGHTS, read_folder, read_manifest
from regard.base.progress import Progress, Remark, ignore_remark
from regard.base.recipe import Recipe
from regard.hardware.threads import so_many_threads
from regard.loading import Loaded, load_as
from regard.measuring import scores_of
from regard.runs.distil.plan import TeachingPlan
from regard.runs.evaluate import has_part
from regard.runs.kept_scores import keep_scores
from regard.runs.open import data_folder
from regard.runs.validate import validator_of

ROUNDS = 3
MeasureSpeed = Callable[[Loaded, str], Mapping[str, float]]  # by column, of a model on the CPU whose task has its data


@dataclass(frozen=True)
class SplitRow:
    """A model of the report."""

    name: str
    scores: Mapping[str, float]
    parameters: int
    bytes: int
    speeds: Mapping[str, float]


@dataclass(frozen=True)
class SplitReport:
    """Measurements of a student and its teachers; `metrics` are the names of columns by metric."""

    split: str
    items: int
    unit: str
    metrics: Mapping[str, str]
    rows: Sequence[SplitRow]
    words: float

    @property
    def columns(self) -> Sequence[str]:
        return ["model", *self.metrics.values(), "parameters", "MB", *self.rows[0].speeds]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return finite(vars(self) | {"rows": [vars(row) for row in self.rows]})

    def table(self) -> list[list[str]]:
        """Return the cells of the report's table, row by row."""
        return [
            [
                row.name,
                *("–" if isnan(row.scores[metric]) else f"{row.scores[metric]:.4g}" for metric in self.metrics),
                f"{row.parameters:,}",
                f"{row.bytes / 1e6:.1f}",
                *(f"{speed:,.0f}" for speed in row.speeds.values()),
            ]
            for row in self.rows
        ]

    def notes(self) -> list[str]:
        """Return sentences on what the table does not show."""
        return [f"Scores of {self.items:,} {self.split} {self.unit}. Speeds are of one core, without a GPU."]


def measure_models(
    folder: Path,
    plan: TeachingPlan,
    metrics: Mapping[str, str],
    unit: str,
    speed: MeasureSpeed,
    progress: Progress,
    remark: Remark,
    kind: Callable[[Any, Recipe], Loaded] = Loaded,
) -> SplitReport:
    """Measure the student in a folder and its teachers on the student's test data, or else on its validation data."""
    student = load_as(kind, folder)
    split = "test" if has_part(student.recipe.data, "test") else "valid"
    numbers = [""] if len(plan.teachers) == 1 else [f" {number}" for number in range(1, len(plan.teachers) + 1)]
    places = {f"teacher{number}": Path(name) for number, name in zip(numbers, plan.teachers, strict=True)}
    rows, count = [], 0
    for name, place in (places | {"student": folder}).items():
        model = student if place is folder else load_as(kind, place)
        _give_data(model, place, student.recipe, folder, progress)
        found = scores_of(validator_of(model.task, model.recipe).measure(split, list(metrics)), split)
        scores = {score.metric: score.value for score in found if score.metric in metrics}
        count = max(score.n for score in found if score.metric in metrics)  # some count spans, or only unknown words
        if isinstance(model.task, nn.Module):
            model.task.to("cpu")
        with so_many_threads(1):
            speeds = speed(model, split)
        size = (place / WEIGHTS).stat().st_size
        rows.append(SplitRow(name, scores, model.parameters, size, speeds))
    keep_scores(folder, found, remark)  # the student is the last
    training = student.recipe.training
    words = training.teacher_weight if getattr(training, "teachers", []) else 0.0
    shown = {metric: column for metric, column in metrics.items() if metric in rows[-1].scores}
    return SplitReport(split, count, unit, shown, rows, words)


def _give_data(model: Loaded, place: Path, student: Recipe, folder: Path, progress: Progress) -> None:
    """Give a model, loaded from `place`, the data of the student in `folder`, by its own words and tokens."""
    files = read_folder(place, [name for name in read_manifest(place) if name != WEIGHTS])
    recipe = model.recipe.model_copy(update={"data": student.data})
    prepared = model.task.prepare(recipe, data_folder(student, folder), progress, ignore_remark, files)
    model.task.learn_from(prepared, recipe)


def seconds_of(work: Callable[[], object]) -> float:
    """Return the seconds of the fastest of a few rounds, since others were disturbed."""
    rounds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        rounds.append(time.perf_counter() - began)
    return min(rounds)
