"""The model that a run starts from: what the run takes over from it, and what must then be the same."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.model_folder import RECIPE, WEIGHTS, read_folder, read_recipe
from regard.base.recipe import Options, Recipe, check, merge_tables
from regard.families import check_recipe
from regard.tasks import TASKS
from regard.tasks.language.borrowing import borrowed_options

RESAMPLED = frozenset({"sampling"})  # of a tokeniser's options: how text is cut in training


def resolve(table: dict[str, Any]) -> Recipe:
    """The recipe in a table, with all that it takes over from other models; a misfit is refused."""
    start = table.get("start_from")
    if not isinstance(start, str):
        return check_recipe(_with_borrowed_tokens(table))
    parent = Path(start).expanduser()
    if WEIGHTS not in read_folder(parent):  # and all of it whole, before anything is prepared or replaced
        raise Fault(f"{parent} has no {WEIGHTS} yet: its training has not reached its first validation.")
    recipe = check_recipe(read_recipe(parent))
    if misfits := list(_misfits(table, recipe)):
        raise Fault(
            f"The recipe does not fit {parent}, from which it starts: {'; '.join(misfits)}; "
            "leave these out to take over what is there."
        )
    return check_recipe(merge_tables(_inheritance(recipe), table))


def resolve_in(folder: Path, table: dict[str, Any], resume: bool) -> Recipe:
    """Resolve the recipe of a run in `folder`; once begun, its own recipe has everything and needs no parent."""
    start = table.get("start_from")
    if isinstance(start, str) and Path(start).expanduser().resolve().is_relative_to(folder.resolve()):
        raise Fault(f"A run in {folder} cannot start from {start}, which lies there itself; name another --out.")
    is_begun = resume and (folder / RECIPE).exists()
    if isinstance(start, str) and is_begun:
        return check_recipe(merge_tables(_inheritance(check_recipe(read_recipe(folder))), table))
    return check_recipe(_with_borrowed_tokens(table, folder)) if is_begun else resolve(table)


def _with_borrowed_tokens(table: dict[str, Any], begun: Path | None = None) -> dict[str, Any]:
    """The table with what it takes over of a model's tokens by data.tokeniser.from; a run that was `begun` has it."""
    data = table.get("data")
    tokeniser = data.get("tokeniser") if isinstance(data, dict) else None
    origin = tokeniser.get("from") if isinstance(tokeniser, dict) else None
    if not isinstance(tokeniser, dict) or not isinstance(origin, str):
        return table
    there = borrowed_options(begun or Path(origin).expanduser(), check_recipe)
    for name in there.keys() & tokeniser.keys():
        if tokeniser[name] != there[name]:
            raise Fault(
                f"data.tokeniser.{name} is {tokeniser[name]!r}, but {there[name]!r} in {origin}, from which the tokens "
                "are taken over; leave it out."
            )
    return merge_tables(table, {"data": {"tokeniser": there}})


def _inheritance(parent: Recipe) -> dict[str, Any]:
    """Return the options that a recipe takes over from the model it starts from, unless it sets them."""
    model = parent.model.model_dump(exclude_none=True)
    return {"family": parent.family, "task": parent.task, "model": model} | parent.inheritance()


def _misfits(table: dict[str, Any], parent: Recipe) -> Iterator[str]:
    """Where a recipe asks for another model or other tokens than those of its parent."""
    family = table.get("family", parent.family)
    task = table.get("task", parent.task)
    if family != parent.family:
        yield f"family is {family!r}, there {parent.family!r}"
    elif task != parent.task and task in TASKS and parent.task not in TASKS[task].starts_from:
        yield f"task is {task!r}, there {parent.task!r}"
    elif isinstance(model := table.get("model"), dict):
        asked = model
        if "preset" in model:  # it stands for the sizes that it gives
            known = type(parent.model).model_fields
            whole = check(type(parent.model), {name: value for name, value in model.items() if name in known})
            asked = {name: getattr(whole, name) for name in known if name in whole.model_fields_set}
        yield from _differing("model", asked, parent.model, getattr(parent.model, "adjustable", frozenset()))
    data = table.get("data")
    own = getattr(parent.data, "tokeniser", None)
    if own is not None and isinstance(data, dict) and isinstance(tokeniser := data.get("tokeniser"), dict):
        yield from _differing("data.tokeniser", tokeniser, own, RESAMPLED)


def _differing(path: str, asked: dict[str, Any], there: Options, free: frozenset[str]) -> Iterator[str]:
    for name, value in asked.items():
        if name not in type(there).model_fields or name in free:
            continue
        own = getattr(there, name)
        if isinstance(own, Options) and isinstance(value, dict):
            yield from _differing(f"{path}.{name}", value, own, frozenset())
        elif value != own:
            yield f"{path}.{name} is {value!r}, there {own!r}"
