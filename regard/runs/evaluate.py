"""Scoring a loaded model on a split of its own data, by what its task measures."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from regard.base.faults import Fault
from regard.base.names import natural_order
from regard.base.progress import Progress, Remark
from regard.families import check_recipe
from regard.loading import Loaded
from regard.measuring import add_measures, scores_of
from regard.metrics import Score
from regard.metrics.significance import Sums
from regard.protocols import Measure, MeasuresParts
from regard.runs.from_text.own_data import OwnFiles, with_own_data
from regard.runs.open import data_folder
from regard.runs.validate import check_measured, validator_of
from regard.training import checkpoint


def evaluate_split(
    model: Loaded, folder: Path, split: str, metrics: Sequence[str], progress: Progress, remark: Remark
) -> list[Score]:
    """The scores of a model on a split of the data that its recipe names, all of them or those that are asked for."""
    return scores_of(measure_on(model, folder, split, metrics, progress, remark), split)


def evaluate_parts(
    model: Loaded, folder: Path, split: str, metrics: Sequence[str], progress: Progress, remark: Remark
) -> dict[str, list[Score]]:
    """The scores of parts of a split, such as the types of spans, by their names; of most tasks there are none."""
    with own_data(model, folder, progress, remark):
        return _scores_of_parts(model, split, metrics, split)


def _scores_of_parts(model: Loaded, split: str, metrics: Sequence[str], name: str | None) -> dict[str, list[Score]]:
    """Return the scores of parts of a split that the task has batches of, as those of a split of this name."""
    if not isinstance(model.task, MeasuresParts):
        return {}
    task: Any = model.task
    found: dict[str, list[dict[str, Measure]]] = {}
    with torch.no_grad():
        for batch in task.batches(split, seed=0, epoch=0, start=0):
            for part, measures in task.measure_parts(batch).items():
                found.setdefault(part, []).append(measures)
    scores = {part: scores_of(add_measures(measures), name) for part, measures in sorted(found.items(), key=_order)}
    return {part: [each for each in own if not metrics or each.metric in metrics] for part, own in scores.items()}


def evaluate_files(
    model: Loaded, folder: Path, files: OwnFiles, metrics: Sequence[str], progress: Progress, remark: Remark
) -> tuple[list[Score], dict[str, list[Score]]]:
    """Return the scores of a model on files that are none of its recipe's, and those of their parts."""
    changed = copy(model)
    changed.recipe = check_recipe(with_own_data(model.recipe.model_dump(exclude_none=True), files))
    check_measured(changed.recipe, metrics)
    with own_data(changed, folder, progress, remark, is_prepared=False):
        scores = scores_of(_measured(changed, "test", metrics), None)
        return scores, _scores_of_parts(changed, "test", metrics, None)


def _order(part: tuple[str, Any]) -> list[tuple[int, str]]:
    return natural_order(part[0])


def measure_on(
    model: Loaded, folder: Path, split: str, metrics: Sequence[str], progress: Progress, remark: Remark
) -> dict[str, Measure]:
    """Measure a split and return measures, which know which direction is better."""
    check_measured(model.recipe, metrics)
    if not has_part(model.recipe.data, split):
        raise Fault(f"The recipe of {folder} names no {split} data to score it on.")
    with own_data(model, folder, progress, remark):
        return _measured(model, split, metrics)


def _measured(model: Loaded, split: str, metrics: Sequence[str]) -> dict[str, Measure]:
    """Return the measures of a split that the task has batches of."""
    found = validator_of(model.task, model.recipe).measure(split, metrics)
    if missing := [name for name in metrics if name not in found]:
        raise Fault(f"'{missing[0]}' is not measured on this data; what is: {', '.join(found)}.")
    return {name: found[name] for name in metrics or found}


def sums_on(model: Loaded, folder: Path, split: str, metrics: Sequence[str], progress: Progress) -> dict[str, Sums]:
    """Return what each example of a split adds to the sums of these metrics, as far as that is known."""
    with own_data(model, folder, progress, lambda text: None):
        return validator_of(model.task, model.recipe).sums(split, metrics)


def has_part(data: Any, split: str) -> bool:
    """Return True if the data of a recipe has this split; data that splits its files itself says which it has.

    Data without a word about its splits has them all, and where nothing is named for validation, some is held out.
    """
    if hasattr(data, "parts"):
        return split in data.parts
    named = getattr(data, split, True)
    return bool(named) or (split == "valid" and named is None)


@contextmanager
def own_data(
    model: Loaded, folder: Path, progress: Progress, remark: Remark, is_prepared: bool = True
) -> Iterator[None]:
    """Let a loaded model's task have batches of the data that its recipe names, inside this block.

    The data is that which was prepared for the run; where it lies there no more, or is not prepared, it is prepared for
    the while.
    """
    task, recipe = model.task, model.recipe
    listed = [name for name in checkpoint.read_manifest(folder) if name != checkpoint.WEIGHTS]
    own = checkpoint.read_folder(folder, listed)
    place = data_folder(recipe, folder)
    with TemporaryDirectory(prefix="regard-") as elsewhere:
        found = place if is_prepared and place.exists() else Path(elsewhere)
        prepared = task.prepare(recipe, found, progress, remark, own)
        task.learn_from(prepared, recipe)
        yield
