"""Score a loaded model on a split of its own data with the measures of its task."""

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
    """Return a model's scores on a split of its recipe's data: all of them, or the given metrics."""
    return scores_of(measure_on(model, folder, split, metrics, progress, remark), split)


def evaluate_parts(
    model: Loaded, folder: Path, split: str, metrics: Sequence[str], progress: Progress, remark: Remark
) -> dict[str, list[Score]]:
    """Return the scores of parts of a split, such as span types, by name; most tasks have none."""
    with own_data(model, folder, progress, remark):
        return _scores_of_parts(model, split, metrics, split)


def _scores_of_parts(model: Loaded, split: str, metrics: Sequence[str], name: str | None) -> dict[str, list[Score]]:
    """Return the scores of the parts of a split, labelled with the split `name`; the task must have its batches."""
    if not isinstance(model.task, MeasuresParts):
        return {}
    task: Any = model.task
    measures_of_parts: dict[str, list[dict[str, Measure]]] = {}
    with torch.no_grad():
        for batch in task.batches(split, seed=0, epoch=0, start=0):
            for part, measures in task.measure_parts(batch).items():
                measures_of_parts.setdefault(part, []).append(measures)
    scores = {
        part: scores_of(add_measures(measures), name)
        for part, measures in sorted(measures_of_parts.items(), key=_order)
    }
    return {
        part: [score for score in part_scores if not metrics or score.metric in metrics]
        for part, part_scores in scores.items()
    }


def evaluate_files(
    model: Loaded, folder: Path, files: OwnFiles, metrics: Sequence[str], progress: Progress, remark: Remark
) -> tuple[list[Score], dict[str, list[Score]]]:
    """Return a model's scores on files that its recipe does not name, and the scores of their parts."""
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
    """Measure a split; each measure knows which direction is better."""
    check_measured(model.recipe, metrics)
    if not has_part(model.recipe.data, split):
        raise Fault(f"The recipe of {folder} names no {split} data to score it on.")
    with own_data(model, folder, progress, remark):
        return _measured(model, split, metrics)


def _measured(model: Loaded, split: str, metrics: Sequence[str]) -> dict[str, Measure]:
    """Measure a split; the task must have its batches."""
    measures = validator_of(model.task, model.recipe).measure(split, metrics)
    if missing := [name for name in metrics if name not in measures]:
        raise Fault(f"'{missing[0]}' is not measured on this data; available: {', '.join(measures)}.")
    return {name: measures[name] for name in metrics or measures}


def sums_on(model: Loaded, folder: Path, split: str, metrics: Sequence[str], progress: Progress) -> dict[str, Sums]:
    """Return what each example of a split adds to the sums of these metrics, where that is known."""
    with own_data(model, folder, progress, lambda text: None):
        return validator_of(model.task, model.recipe).sums(split, metrics)


def has_part(data: Any, split: str) -> bool:
    """Return True if the recipe's data has this split.

    Data that splits its files itself lists its splits in `parts`; data that does not mention a split has it. If no
    validation data is named, some is held out.
    """
    if hasattr(data, "parts"):
        return split in data.parts
    named = getattr(data, split, True)
    return bool(named) or (split == "valid" and named is None)


@contextmanager
def own_data(
    model: Loaded, folder: Path, progress: Progress, remark: Remark, is_prepared: bool = True
) -> Iterator[None]:
    """Give a loaded model's task batches of its recipe's data while the block runs.

    The data prepared for the run is used if it still exists; otherwise the data is prepared in a temporary folder.
    """
    task, recipe = model.task, model.recipe
    listed = [name for name in checkpoint.read_manifest(folder) if name != checkpoint.WEIGHTS]
    files = checkpoint.read_folder(folder, listed)
    place = data_folder(recipe, folder)
    with TemporaryDirectory(prefix="regard-") as elsewhere:
        place_of_data = place if is_prepared and place.exists() else Path(elsewhere)
        prepared = task.prepare(recipe, place_of_data, progress, remark, files)
        task.learn_from(prepared, recipe)
        yield
