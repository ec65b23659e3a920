"""Recipes by family, from the table of families."""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import Field, create_model

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.base.plugin_record import record_of
from regard.base.recipe import Elsewhere, Recipe, apply_settings, check, check_alone, describe_options
from regard.base.rows import OrRowOf
from regard.families.family import Family as Family
from regard.families.table import FAMILIES as FAMILIES
from regard.tasks import TASKS

AnyRecipe = TypeVar("AnyRecipe", bound=Recipe)


def with_settings(recipe: AnyRecipe, settings: Sequence[str]) -> AnyRecipe:
    """Return a recipe changed by settings such as `training.steps=200`."""
    return cast(AnyRecipe, check_recipe(apply_settings(recipe.model_dump(exclude_none=True), settings)))


def check_recipe(table: dict[str, Any]) -> Recipe:
    """Return the recipe in a table, or report all its faults at once."""
    whole = _with_task(table)
    return check(
        recipe_class(whole["family"], whole["task"]), whole, elsewhere=_belonging(whole["family"], whole["task"])
    )


def recipe_kind(table: dict[str, Any]) -> type[Recipe]:
    """Return the class of the recipe in a table, by its family and task."""
    whole = _with_task(table)
    return recipe_class(whole["family"], whole["task"])


def check_settings(table: dict[str, Any]) -> None:
    """Refuse options that no recipe can have, before the rest of the recipe is known."""
    whole = _with_task(table)
    check_alone(
        recipe_class(whole["family"], whole["task"]), whole, elsewhere=_belonging(whole["family"], whole["task"])
    )


def described_options(family: str = "transformer") -> dict[str, str]:
    """Return every option of a family's recipe by its path, with its description."""
    return describe_options(recipe_class(family, FAMILIES[family].tasks[0]))


@cache
def recipe_class(family: str, task: str) -> type[Recipe]:
    """Return the recipe class of a family for one of its tasks."""
    options = FAMILIES[family].load_options()
    way = FAMILIES[family].way(task)
    if way.model is not None:
        options = create_model(options.__name__, __base__=(options, find_place(way.model)))
    base: type[Recipe] = find_place(way.recipe)
    model = (options, Field(description=base.model_fields["model"].description))
    kind = create_model(base.__name__, __base__=base, model=model)
    kind.network, kind.check_other = FAMILIES[family].network, staticmethod(check_recipe)
    return kind


def task_class(recipe: Recipe) -> type[Any]:
    """Return the class of a recipe's task."""
    return find_place(FAMILIES[recipe.family].way(recipe.task).task)


def refuse_family(family: Any) -> Fault:
    """Return the fault that there is no such family, with a list of families."""
    return Fault(
        f"family is {family!r}, expected one of {', '.join(map(repr, FAMILIES))}",
        "to use a family of another package, install that package or name it with --plugin MODULE",
    )


def plugin_record(recipe: Recipe) -> bytes | None:
    """Return the record of the plugins that a recipe needs, for its model folder; None if it needs none."""
    rows = {"family": (recipe.family, FAMILIES.source(recipe.family)), "task": (recipe.task, TASKS.source(recipe.task))}
    for name, field in type(recipe.model).model_fields.items():
        for table in (item for item in field.metadata if isinstance(item, OrRowOf)):
            chosen = getattr(recipe.model, name)
            rows[f"model.{name}"] = chosen, table.source(chosen)
    return record_of(rows)


AN = ("hred", "lstm", "ngram", "ntm", "rnn")  # names that are spoken with a vowel first


def with_article(family: str) -> str:
    """Return the name of a family with its article, for use in a sentence: a gat, an ngram, an rnn."""
    return f"{'an' if family[0] in 'aeio' or family.startswith(AN) else 'a'} {family}"


def _with_task(table: dict[str, Any]) -> dict[str, Any]:
    """Return the table with its family and task filled in."""
    family = table.get("family", Recipe.model_fields["family"].default)
    if not isinstance(family, str) or family not in FAMILIES:
        raise refuse_family(family)
    tasks = FAMILIES[family].tasks
    task = table.get("task", tasks[0])
    if task not in tasks:
        learnt = ", ".join(map(repr, tasks))
        raise Fault(f"task is {task!r}, but {with_article(family)} can be trained for {learnt}")
    return {"model": {}} | table | {"family": family, "task": task}


def _belonging(family: str, task: str) -> Elsewhere:
    """Return a function that says which recipes an option belongs to."""
    own_way = FAMILIES[family].way(task)

    def sentence(path: str) -> str | None:
        owners = [
            (name, learning)
            for name, kind in TASKS.shipped.items()
            for learning, way in kind.ways.items()
            if way != own_way and path in describe_options(find_place(way.recipe))
        ]
        if not owners:
            return None
        *others, last = dict.fromkeys(name for name, _ in owners)
        belongs = f"the tasks {', '.join(others)} and {last}" if others else f"the task {last}"
        if FAMILIES[family].learns != "gradient" and {learning for _, learning in owners} == {"gradient"}:
            belongs = "models that learn by gradient"
        return f"{path} belongs to {belongs}; a task of {task} {own_way.trains}"

    return sentence
