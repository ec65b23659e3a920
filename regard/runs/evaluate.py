"""Scoring a loaded model on a split of its own data, by what its task measures."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from regard.base.faults import Fault
from regard.base.names import natural_order
from regard.base.progress import Progress, Remark
from regard.metrics import Score
from regard.metrics.significance import Sums
from regard.model import Model
from regard.protocols import Measure, MeasuresParts, MeasuresRows
from regard.runs import checkpoint
from regard.runs.open import data_folder
from regard.runs.validate import add_measures, check_measured, measure_split, scores_of


def evaluate_split(
    model: Model, folder: Path, split: str, metrics: Sequence[str], progress: Progress, remark: Remark
) -> list[Score]:
    """The scores of a model on a split of the data that its recipe names, all of them or those that are asked for."""
    return scores_of(measure_on(model, folder, split, metrics, progress, remark), split)


def evaluate_parts(
    model: Model, folder: Path, split: str, metrics: Sequence[str], progress: Progress, remark: Remark
) -> dict[str, list[Score]]:
    """The scores of parts of a split, such as the types of spans, by their names; of most tasks there are none."""
    if not isinstance(model.task, MeasuresParts):
        return {}
    task: Any = model.task
    found: dict[str, list[dict[str, Measure]]] = {}
    with own_data(model, folder, progress, remark), torch.no_grad():
        for batch in task.batches(split, seed=0, epoch=0, start=0):
            for part, measures in task.measure_parts(batch).items():
                found.setdefault(part, []).append(measures)
    scores = {part: scores_of(add_measures(measures), split) for part, measures in sorted(found.items(), key=_order)}
    return {part: [each for each in own if not metrics or each.metric in metrics] for part, own in scores.items()}


def _order(part: tuple[str, Any]) -> list[tuple[int, str]]:
    return natural_order(part[0])


def measure_on(
    model: Model, folder: Path, split: str, metrics: Sequence[str], progress: Progress, remark: Remark
) -> dict[str, Measure]:
    """The same as measures, which know which direction is better."""
    task, recipe = model.task, model.recipe
    check_measured(recipe, metrics)
    if not has_part(recipe.data, split):
        raise Fault(f"The recipe of {folder} names no {split} data to score it on.")
    with own_data(model, folder, progress, remark):
        found = measure_split(task, split)
    if missing := [name for name in metrics if name not in found]:
        raise Fault(f"'{missing[0]}' is not measured on this data; what is: {', '.join(found)}.")
    return {name: found[name] for name in metrics or found}


@torch.no_grad()
def sums_on(model: Model, folder: Path, split: str, metrics: Sequence[str], progress: Progress) -> dict[str, Sums]:
    """What each example of a split adds to the sums of these measures; nothing, where the task does not know."""
    task = model.task
    if not isinstance(task, MeasuresRows):
        return {}
    rows: dict[str, list[np.ndarray]] = {name: [] for name in metrics}
    finish: dict[str, Callable[..., float]] = {}
    with own_data(model, folder, progress, lambda text: None):
        for batch in task.batches(split, seed=0, epoch=0, start=0):
            found, measures = task.sums_of_rows(batch), task.measure(batch)
            for name in metrics:
                rows[name].append(found[name].double().cpu().numpy())
                finish[name] = measures[name].tally.finish
    return {name: Sums(np.concatenate(rows[name]), partial(_finish_total, finish[name])) for name in metrics}


def _finish_total(finish: Callable[..., float], total: list[float]) -> float:
    return finish(*total)


def has_part(data: Any, split: str) -> bool:
    """Whether the data of a recipe has this split; data that cuts its files into splits itself says which.

    Data without a word about its splits has them all, and where nothing is named for validation, some is held out.
    """
    if hasattr(data, "parts"):
        return split in data.parts
    named = getattr(data, split, True)
    return bool(named) or (split == "valid" and named is None)


@contextmanager
def own_data(model: Model, folder: Path, progress: Progress, remark: Remark) -> Iterator[None]:
    """Let a loaded model's task have batches of the data that its recipe names, inside this block.

    The data is that which was prepared for the run; where it lies there no more, it is prepared anew for the while.
    """
    task, recipe = model.task, model.recipe
    listed = [name for name in checkpoint.read_manifest(folder) if name != checkpoint.WEIGHTS]
    own = checkpoint.read_folder(folder, listed)
    place = data_folder(recipe, folder)
    with TemporaryDirectory(prefix="regard-") as elsewhere:
        prepared = task.prepare(recipe, place if place.exists() else Path(elsewhere), progress, remark, own)
        task.learn_from(prepared, recipe)
        yield
