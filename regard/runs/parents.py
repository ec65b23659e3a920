"""The model that a run starts from: the options a run inherits from it, and those that must agree."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.model_folder import RECIPE, WEIGHTS, read_folder, read_recipe
from regard.base.recipe import Options, Recipe, check, merge_tables, value_at
from regard.data.corpora.options import PairData
from regard.families import check_recipe
from regard.tasks import TASKS
from regard.tasks.language.borrowing import borrowed_options

RESAMPLED = frozenset({"sampling"})  # tokeniser options that may change: how text is segmented in training


def resolve(table: dict[str, Any]) -> Recipe:
    """Return the recipe in a table, with all options it inherits from other models; refuse a mismatch."""
    start = table.get("start_from")
    if not isinstance(start, str):
        return check_recipe(_with_tokenisers(_with_borrowed_tokens(table)))
    parent = Path(start).expanduser()
    if WEIGHTS not in read_folder(parent):  # also checks that the folder is intact
        raise Fault(f"{parent} has no {WEIGHTS} yet: its training has not kept a model so far.")
    recipe = check_recipe(read_recipe(parent))
    if misfits := list(_misfits(table, recipe)):
        raise Fault(
            f"The recipe does not fit {parent}, which it starts from: {'; '.join(misfits)}; "
            "omit these options to use the model's own."
        )
    return check_recipe(merge_tables(_inheritance(recipe), table))


def resolve_in(folder: Path, table: dict[str, Any], resume: bool) -> Recipe:
    """Return the recipe of a run in `folder`; a resumed run finds everything in its own recipe and needs no parent."""
    start = table.get("start_from")
    if isinstance(start, str) and Path(start).expanduser().resolve().is_relative_to(folder.resolve()):
        raise Fault(f"A run in {folder} cannot start from {start}, which is inside that folder; choose another --out.")
    is_begun = resume and (folder / RECIPE).exists()
    if isinstance(start, str) and is_begun:
        return check_recipe(merge_tables(_inheritance(check_recipe(read_recipe(folder))), table))
    return check_recipe(_with_tokenisers(_with_borrowed_tokens(table, folder), folder)) if is_begun else resolve(table)


def _with_tokenisers(table: dict[str, Any], run_folder: Path | None = None) -> dict[str, Any]:
    """Return a translator's table with the tokeniser options of data.tokenisers_from, or of its own run if begun."""
    origin = value_at(table, "data", "tokenisers_from")
    if not isinstance(origin, str):
        return table
    recipe = check_recipe(read_recipe(run_folder or Path(origin).expanduser()))
    if not isinstance(recipe.data, PairData):
        raise Fault(f"data.tokenisers_from is {origin}, which is not a translator.")
    own_options = value_at(table, "data", "tokeniser")
    if isinstance(own_options, dict) and (
        misfits := list(_differing("data.tokeniser", own_options, recipe.data.tokeniser, RESAMPLED))
    ):
        raise Fault(f"{'; '.join(misfits)}, whose tokenisers are used (data.tokenisers_from); omit these options.")
    return merge_tables({"data": {"tokeniser": recipe.data.tokeniser.model_dump(exclude_none=True)}}, table)


def _with_borrowed_tokens(table: dict[str, Any], run_folder: Path | None = None) -> dict[str, Any]:
    """Return the table with the tokeniser options of the model in data.tokeniser.from; `begun` is a run that has
    them.
    """
    data = table.get("data")
    tokeniser = data.get("tokeniser") if isinstance(data, dict) else None
    origin = tokeniser.get("from") if isinstance(tokeniser, dict) else None
    if not isinstance(tokeniser, dict) or not isinstance(origin, str):
        return table
    borrowed = borrowed_options(run_folder or Path(origin).expanduser(), check_recipe)
    for name in borrowed.keys() & tokeniser.keys():
        if tokeniser[name] != borrowed[name]:
            raise Fault(
                f"data.tokeniser.{name} is {tokeniser[name]!r}, but {borrowed[name]!r} in {origin}, whose tokeniser is "
                "used; omit this option."
            )
    return merge_tables(table, {"data": {"tokeniser": borrowed}})


def _inheritance(parent: Recipe) -> dict[str, Any]:
    """Return the options that a recipe inherits from the model it starts from, unless it sets them."""
    model = parent.model.model_dump(exclude_none=True)
    return {"family": parent.family, "task": parent.task, "model": model} | parent.inheritance()


def _misfits(table: dict[str, Any], parent: Recipe) -> Iterator[str]:
    """Yield the options in which a recipe asks for another model or tokeniser than its parent's."""
    family = table.get("family", parent.family)
    task = table.get("task", parent.task)
    if family != parent.family:
        yield f"family is {family!r}, but the model has {parent.family!r}"
    elif task != parent.task and task in TASKS and parent.task not in TASKS[task].starts_from:
        yield f"task is {task!r}, but the model has {parent.task!r}"
    elif isinstance(model := table.get("model"), dict):
        options = model
        if "preset" in model:  # a preset stands for the sizes it sets
            fields = type(parent.model).model_fields
            whole = check(type(parent.model), {name: value for name, value in model.items() if name in fields})
            options = {name: getattr(whole, name) for name in fields if name in whole.model_fields_set}
        alike = getattr(parent.model, "interchangeable", {})
        free = {name for name, values in alike.items() if {options.get(name), getattr(parent.model, name)} <= values}
        yield from _differing("model", options, parent.model, getattr(parent.model, "adjustable", frozenset()) | free)
    data = table.get("data")
    parent_tokeniser = getattr(parent.data, "tokeniser", None)
    if parent_tokeniser is not None and isinstance(data, dict) and isinstance(tokeniser := data.get("tokeniser"), dict):
        yield from _differing("data.tokeniser", tokeniser, parent_tokeniser, RESAMPLED)


def _differing(path: str, options: dict[str, Any], there: Options, free: frozenset[str]) -> Iterator[str]:
    for name, value in options.items():
        if name not in type(there).model_fields or name in free:
            continue
        parent_value = getattr(there, name)
        if isinstance(parent_value, Options) and isinstance(value, dict):
            yield from _differing(f"{path}.{name}", value, parent_value, frozenset())
        elif value != parent_value:
            yield f"{path}.{name} is {value!r}, but the model has {parent_value!r}"
