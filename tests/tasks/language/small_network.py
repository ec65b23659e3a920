"""A small recurrent language model and its text, for tests of everything around it."""

from pathlib import Path
from typing import Any

import torch
from counted_language import LINES

from regard.base.progress import silent
from regard.families import check_recipe
from regard.tasks.language.gradient import GradientLanguage

MODEL = {"embedding": 5, "width": 6, "layers": 2}


def table_in(folder: Path, model: dict[str, Any] | None = None, **training: Any) -> dict[str, Any]:
    """Return a recipe for a network that reads a few lines, which are its test data too."""
    text = folder / "text.txt"
    text.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    options = {"batch": 3, "span": 4, "steps": 6, "validate_every": 3, "save_every": 3, "device": "cpu"} | training
    data = {"train": str(text), "valid": str(text), "test": str(text)}
    return {"family": "rnnlm", "data": data, "model": MODEL | (model or {}), "training": options}


def network_in(folder: Path, model: dict[str, Any] | None = None, **training: Any) -> GradientLanguage:
    """Return an untrained task with its text, in float64."""
    recipe = check_recipe(table_in(folder, model, **training))
    prepared = GradientLanguage.prepare(recipe, folder / "prepared", silent, lambda text: None, None)
    torch.manual_seed(0)
    task = GradientLanguage.build(recipe, prepared.files())
    task.learn_from(prepared, recipe)
    return task.double()
