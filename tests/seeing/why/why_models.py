"""Untrained models of every family in float64, for tests of maps."""

from pathlib import Path
from typing import Any

from toys import open_toy

from regard.loading import Loaded
from regard.verbs.opening import class_for


def toy_model(name: str, folder: Path, **model: Any) -> Loaded:
    """Return the model of a toy with its first weights, in float64."""
    run = open_toy(name, folder, **model)
    return class_for(run.recipe.task)(run.task.double(), run.recipe)
