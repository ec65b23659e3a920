"""Open models for the verbs, with the class that fits their task."""

from pathlib import Path
from typing import Any

from regard.base.recipe import Recipe
from regard.loading import Loaded, load_as


def model_in(folder: str | Path, device: str = "auto", precision: str = "float32", verb: str | None = None) -> Loaded:
    """Load a model folder with the class for its task; refuse a model that lacks the verb."""
    return load_as(_made, folder, device, precision, verb)


def class_for(task: str) -> type[Loaded]:
    """Return the class for models of a task."""
    if task == "translation":
        from regard.verbs.translate.model import TranslationModel

        return TranslationModel
    if task == "language":
        from regard.verbs.generate.model import LanguageModel

        return LanguageModel
    return Loaded


def _made(task: Any, recipe: Recipe) -> Loaded:
    return class_for(recipe.task)(task, recipe)
