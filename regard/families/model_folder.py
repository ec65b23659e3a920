"""Model folders without their weights: the recipe, the other files, and a description; imports no torch."""

import io
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from regard.base.faults import Fault
from regard.base.model_folder import RECIPE, WEIGHTS, read_folder, read_manifest, read_recipe
from regard.base.places import find_place
from regard.base.recipe import Recipe, faults_of
from regard.base.tensors import read_shapes
from regard.families import FAMILIES, check_recipe


class OpenFolder(NamedTuple):
    """The recipe of a model folder, and the content of every file except its weights."""

    recipe: Recipe
    files: dict[str, bytes]


class Description(NamedTuple):
    """Facts about a model, without running it."""

    recipe: Recipe
    facts: dict[str, Any]
    cost: dict[str, int | float]  # of an input of some size


def open_folder(folder: Path) -> OpenFolder:
    """Read a model folder except its weights, checking each file against the manifest."""
    table = read_recipe(folder)
    with faults_of(folder / RECIPE):
        recipe = check_recipe(table)
    listed = read_manifest(folder)
    if WEIGHTS not in listed:
        raise Fault(f"{folder} has no {WEIGHTS} yet: its training has not kept a model so far.")
    unlisted = [file for name in ("tokeniser", "source", "target") for file in (f"{name}.model", f"{name}.json")
                if (folder / file).exists() and file not in listed]  # fmt: skip
    if unlisted:
        raise Fault(f"{folder / unlisted[0]} is not in the manifest, so it cannot be trusted.")
    return OpenFolder(recipe, read_folder(folder, [name for name in listed if name != WEIGHTS]))


def facts_of(recipe: Recipe, parameters: int, more: dict[str, Any]) -> dict[str, Any]:
    """Return facts about a model by name: family and task, languages, size, and the facts of its task."""
    facts: dict[str, Any] = {"family": recipe.family, "task": recipe.task}
    if hasattr(recipe.data, "source_language"):
        facts["languages"] = f"{recipe.data.source_language}-{recipe.data.target_language}"
    return {**facts, "parameters": parameters, **more}


def describe_folder(folder: Path, size: int) -> Description | None:
    """Describe the model in a folder from its files alone; None if its network must be built for that.

    The cost is that of an input of this size.
    """
    family = FAMILIES.get(read_recipe(folder).get("family", Recipe.model_fields["family"].default))
    if family is None or family.cost is None:
        return None
    recipe, files = open_folder(folder)
    describe = family.way(recipe.task).describes
    if describe is None:
        return None
    weights = read_folder(folder, [WEIGHTS])[WEIGHTS]
    shapes = read_shapes(io.BytesIO(weights), str(folder / WEIGHTS))
    if sum(map(prod, shapes.values())) > len(weights):
        raise Fault(f"{folder / WEIGHTS} is damaged: its header lists more numbers than it can hold.")
    parameters, facts, cost = find_place(describe)(recipe, files, shapes, find_place(family.cost), size)
    return Description(recipe, facts_of(recipe, parameters, facts), cost)
