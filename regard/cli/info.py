"""`regard info`: what a model folder holds, what it scored and what it costs."""

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.base.faults import printable
from regard.cli.console import print_json

WIDTH = 100  # of what is said of a model's sizes


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    length: Annotated[int, typer.Option(min=1, help="Tokens of the sentence whose cost is told.")] = 32,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Say what a model is, what it scored, and what a sentence of some length costs it."""
    from regard.engines.exported import CTRANSLATE2, ONNX, is_export
    from regard.model import load
    from regard.runs.evaluate import read_scores
    from regard.training.pace import read_course

    loaded = load(model)
    course = read_course(model / "training")
    recipe, task = loaded.recipe, loaded.task
    facts: dict[str, Any] = {
        "family": recipe.family,
        "task": recipe.task,
        "languages": f"{recipe.data.source_language}-{recipe.data.target_language}",
        "parameters": sum(parameter.numel() for parameter in task.parameters()),
        "source tokens": task.source.size,
        "target tokens": task.target.size,
        "sizes": recipe.model.model_dump(),
        "cost": task.model.cost(length),
        "start_from": recipe.start_from,
        "training": course and asdict(course),
        "scores": read_scores(model),
        "exports": [name for name in (CTRANSLATE2, ONNX) if is_export(model / name)],
    }
    if as_json:
        print_json(facts)
        return
    for name in ("family", "task", "languages", "parameters", "source tokens", "target tokens"):
        value = facts[name]
        print(f"{name:15}{value:,}" if isinstance(value, int) else f"{name:15}{printable(value)}")
    built = [f"{name} {_shown(value)}" for name, value in facts["sizes"].items() if value is not None]
    for number, line in enumerate(textwrap.wrap(", ".join(built), WIDTH)):
        print(f"{'' if number else 'built':15}{line}")
    cost = facts["cost"]
    print(f"{'cost':15}for {length} tokens in and out: {cost['multiplications']:,} multiplications,")
    share = f"{cost['attention_share']:.1%}"
    print(f"{'':15}of which {share} for attention, whose {cost['weights']:,} weights grow as length²")
    if recipe.start_from:
        print(f"{'started from':15}{printable(recipe.start_from)}")
    if course:
        print(f"{'trained':15}{course.in_words()}")
    for score in facts["scores"]:
        told = f"{score['split']} {score['metric']} {score['value']:.2f}  ({score['signature']})"
        print(f"{'score':15}{printable(told)}")
    for name in facts["exports"]:
        print(f"{'export':15}for {name}, in {model / name}")


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
