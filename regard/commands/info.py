"""`regard info`: describe a model folder: sizes, scores and cost."""

import textwrap
from collections.abc import Collection, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.base.faults import Fault, printable
from regard.base.recipe import Options
from regard.console import print_json

WIDTH = 100  # columns of the lines on a model's sizes
LENGTH, GPUS = 32, 8  # by default


def command(
    model: Annotated[Path, typer.Argument(help="A model folder; with --budget, also a recipe file or name.")],
    length: Annotated[
        int | None,
        typer.Option(
            min=1, help="Input size for the cost: tokens of a sentence, or pixels along a picture's side (32)."
        ),
    ] = None,
    budget: Annotated[
        bool, typer.Option("--budget", help="Print what training takes instead: tokens, operations, GPU hours.")
    ] = False,
    gpus: Annotated[int | None, typer.Option(min=1, help="With --budget: number of GPUs (8).")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="OPTION=VALUE", help="With --budget: change the recipe.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Describe a model: what it is, what it can do, its scores, and the cost of an input of a given size."""
    if budget:
        if length is not None:
            raise Fault("--length is for the cost of an input; omit it with --budget.")
        _say_budget(model, settings or [], GPUS if gpus is None else gpus, as_json)
        return
    if settings:
        raise Fault("--set needs --budget, whose recipe it changes.")
    if gpus is not None:
        raise Fault("--gpus needs --budget, which it is for.")
    _say_model(model, LENGTH if length is None else length, as_json)


def _say_model(model: Path, length: int, as_json: bool) -> None:
    from regard.engines.exported import CTRANSLATE2, ONNX, is_export
    from regard.families.abilities import verbs_of
    from regard.runs.description import describe, known
    from regard.runs.kept_scores import read_scores, score_in_words
    from regard.training.pace import read_course

    recipe, description, cost = describe(model, length)
    course = read_course(model / "training")
    knowledge, statements = known(model, recipe)
    facts = description | {
        **knowledge,
        "verbs": verbs_of(recipe.family, recipe.task),
        "sizes": recipe.model.model_dump(),
        "cost": cost,
        "start_from": recipe.start_from,
        "training": course and asdict(course),
        "scores": read_scores(model),
        "exports": [name for name in (CTRANSLATE2, ONNX) if is_export(model / name)],
    }
    if as_json:
        print_json(facts)
        return
    for name, value in description.items():
        print(f"{name:15}{value:,}" if isinstance(value, int) else f"{name:15}{printable(str(value))}")
    for name, words in statements.items():
        print(f"{name:15}{printable(words)}")
    print(f"{'can':15}{', '.join(facts['verbs'])}")
    for number, line in enumerate(
        textwrap.wrap(", ".join(_options(recipe.model, "", _within("model", recipe.idle))), WIDTH)
    ):
        print(f"{'' if number else 'built':15}{line}")
    for number, line in enumerate(_cost_lines(facts["cost"], length)):
        print(f"{'' if number else 'cost':15}{line}")
    if recipe.start_from:
        print(f"{'started from':15}{printable(recipe.start_from)}")
    if course:
        print(f"{'trained':15}{course.in_words()}")
    for score in facts["scores"]:
        print(f"{'score':15}{printable(score_in_words(score))}")
    for name in facts["exports"]:
        print(f"{'export':15}for {name}, in {model / name}")


def _say_budget(recipe: Path, settings: list[str], gpus: int, as_json: bool) -> None:
    from regard.base.model_folder import read_recipe
    from regard.base.recipe import apply_settings
    from regard.families import check_recipe
    from regard.runs.budget import budget_lines, budget_of
    from regard.runs.request import recipe_table, refuse_comparison

    table, name = (read_recipe(recipe), "") if recipe.is_dir() else recipe_table(str(recipe))
    refuse_comparison(table, name)
    budget = budget_of(check_recipe(apply_settings(table, settings)))
    if as_json:
        totals = {"all_tokens": budget.all_tokens, "operations": budget.operations}
        print_json(
            asdict(budget) | totals | {"gpus": gpus, "hours": budget.hours(gpus), "hours_on_one": budget.hours(1)}
        )
        return
    for name, words in budget_lines(budget, gpus):
        print(f"{name:15}{words}")


def _cost_lines(cost: dict[str, int | float], length: int) -> list[str]:
    """Return lines on the cost of an input: per token for text, otherwise under the names that the task gives."""
    if "attention_share" not in cost:
        return [f"{value:,} {name.replace('_', ' ')}" for name, value in cost.items()]
    return [
        f"for {length} tokens in and out: {cost['multiplications']:,} multiplications,",
        f"of which {cost['attention_share']:.1%} for attention, whose {cost['weights']:,} weights grow as length²",
    ]


def _options(options: Options, above: str, idle: Collection[str]) -> Iterator[str]:
    """Yield each option that is set and has an effect, with its full name as in a recipe and its value."""
    idle = {*idle, *options.idle}
    for name in type(options).model_fields:
        value = getattr(options, name)
        if isinstance(value, Options) and name not in idle:
            yield from _options(value, f"{above}{name}.", _within(name, idle))
        elif value is not None and name not in idle:
            yield f"{above}{name} {_show(value)}"


def _within(name: str, paths: Collection[str]) -> list[str]:
    """Return the paths that begin with a name, without that name."""
    return [path.removeprefix(f"{name}.") for path in paths if path.startswith(f"{name}.")]


def _show(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(_show, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
