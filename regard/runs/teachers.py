"""Teachers of a run: models of its task whose distributions it learns, word by word."""

from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.model_folder import RECIPE
from regard.base.recipe import Recipe
from regard.families import with_article
from regard.loading import Loaded, load_as

# Task -> the option that takes over another model's tokens.
_OPTIONS = {"translation": "data.tokenisers_from", "language": "data.tokeniser.from"}


def teachers_of(recipe: Recipe) -> list[Path]:
    """Return the folders of the teachers that a run learns from; none if their weight is zero."""
    training = recipe.training
    folders = getattr(training, "teachers", []) if getattr(training, "teacher_weight", 0) else []
    return [Path(folder).expanduser() for folder in folders]


def check_teachers(recipe: Recipe) -> None:
    """Refuse a recipe whose teachers are missing."""
    for folder in teachers_of(recipe):
        if not (folder / RECIPE).exists():
            raise Fault(f"training.teachers names {folder}, but there is no model; train that model first.")


def with_teachers(recipe: Recipe, task: Any) -> Recipe:
    """Give a task its teachers; return the recipe with their checksums, and refuse teachers that have changed."""
    folders = teachers_of(recipe)
    if not folders:
        return recipe
    training = recipe.training
    models = [load_as(Loaded, folder, device=str(task.device)) for folder in folders]
    for folder, model in zip(folders, models, strict=True):
        if model.recipe.task != recipe.task or not hasattr(model.task, "learn_from_teachers"):
            raise Fault(
                f"{folder} of training.teachers is {with_article(model.recipe.family)} for the task "
                f"{model.recipe.task}; a teacher here is a network for the task {recipe.task}."
            )
        if _tokens(task) != _tokens(model.task):
            raise Fault(
                f"{folder} of training.teachers has other tokens than this model; "
                f"set {_OPTIONS[recipe.task]} to {folder}, or choose a teacher with the same tokens."
            )
    checksums = [str(model.fingerprint) for model in models]
    for folder, now, before in zip(folders, checksums, training.teacher_checksums or checksums, strict=True):
        if now != before:
            raise Fault(
                f"{folder} of training.teachers has changed since the run began, so the run cannot go on as it began; "
                "restore the teacher, or start another run."
            )
    task.learn_from_teachers([model.task for model in models], training.teacher_weight, training.teacher_temperature)
    changes = {"training": training.model_copy(update={"teacher_checksums": checksums})}
    return recipe.model_copy(update=changes)


def _tokens(task: Any) -> list[dict[str, bytes]]:
    """Return the files of all tokenisers of a task, which are equal for equal tokens."""
    names = [name for name in ("source", "target", "tokeniser") if hasattr(task, name)]
    return [getattr(task, name).files(name) for name in names]
