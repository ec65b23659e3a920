"""Facts about a model for the server's page: its data, size and scores."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.model_folder import SCORES, read_folder, read_recipe
from regard.base.parsing import parse_json
from regard.runs.about import data_names, hardly_trained, read_about
from regard.serving.records import HardlyTrained, LearntAmount


def known_of(folder: Path) -> dict[str, Any]:
    """Return what a model folder records about its model's training."""
    about, recipe, course = read_about(folder), read_recipe(folder), hardly_trained(folder)
    return {
        "description": recipe.get("description", ""),
        "data": data_names(recipe),
        "amount": about.amount and LearntAmount(**asdict(about.amount)),
        "parameters": about.parameters,
        "examples": about.examples,
        "best_by": recipe.get("training", {}).get("best_by"),
        "hardly_trained": course and HardlyTrained(step=course.best, steps=course.steps, validated=course.validated),
    }


def read_scores(folder: Path) -> list[dict[str, Any]]:
    """Return the scores in a model folder."""
    try:
        content = read_folder(folder, [SCORES])[SCORES]
        return list(parse_json(content, str(folder / SCORES))["scores"])
    except (Fault, KeyError, TypeError):
        return []
