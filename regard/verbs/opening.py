"""Models opened for the verbs: those of some tasks can do more than answer what they are asked."""

from pathlib import Path
from typing import Any

from regard.base.recipe import Recipe
from regard.loading import Loaded, load_as


def model_in(folder: str | Path, device: str = "auto", precision: str = "float32", verb: str | None = None) -> Loaded:
    """Load a model folder as what its task asks for, refused if it has not got this verb."""
    return load_as(_made, folder, device, precision, verb)


def class_for(task: str) -> type[Loaded]:
    """Return the class of the models of a kind of task."""
    if task == "translation":
        from regard.verbs.translate.model import TranslationModel

        return TranslationModel
    if task == "language":
        from regard.verbs.generate.model import LanguageModel

        return LanguageModel
    return Loaded


def _made(task: Any, recipe: Recipe) -> Loaded:
    return class_for(recipe.task)(task, recipe)
