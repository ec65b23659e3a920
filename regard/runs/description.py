"""Description of a model from its folder: its size and cost, its data and its certainty."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from regard.base.model_folder import CERTAINTY, read_folder, read_manifest, read_recipe
from regard.base.recipe import Recipe
from regard.families.model_folder import Description, describe_folder
from regard.runs.about import about_in_words, data_names, read_about


def describe(folder: Path, size: int) -> Description:
    """Describe the model in a folder, from its files if possible; the cost is for an input of this size."""
    return describe_folder(folder, size) or _describe_loaded(folder, size)


def _describe_loaded(folder: Path, size: int) -> Description:
    """Describe a model whose family cannot be described from its files alone."""
    from regard.protocols import Describes
    from regard.verbs.opening import model_in

    loaded = model_in(folder)
    cost = loaded.task.cost(size) if isinstance(loaded.task, Describes) else {}
    return Description(loaded.recipe, loaded.facts(), cost)


def known(folder: Path, recipe: Recipe) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what a model folder records about its data and certainty, as facts and in words."""
    about, table, certainty = read_about(folder), read_recipe(folder), None
    if recipe.task == "translation" and CERTAINTY in read_manifest(folder):
        from regard.verbs.translate.certainty import certainty_in

        certainty = certainty_in(read_folder(folder, [CERTAINTY]), folder)
    facts = {
        "description": recipe.description,
        "data": data_names(table),
        "amount": about.amount and asdict(about.amount),
        "examples": about.examples,
        "certainty": certainty and certainty.model_dump(),
    }
    words = about_in_words(about, table)
    if certainty:
        words["unsure"] = f"of outputs whose {certainty.measure} is below {certainty.threshold}"
    return facts, words
