"""`regard check-family`: check that a family keeps the promises of every family."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from regard.base.faults import Fault
from regard.base.places import find_place
from regard.console import console_progress, print_json, say_table
from regard.families import FAMILIES, refuse_family

if TYPE_CHECKING:
    from regard.promises.toy import Toy

_WORDS = {True: "held", False: "broken", None: "does not apply"}


def command(
    family: Annotated[str, typer.Argument(help="Name of a family, such as one that a plugin adds.")],
    recipe: Annotated[
        Path | None,
        typer.Option(help="A recipe of a few steps to check it on, instead of the family's own toy."),
    ] = None,
    inputs: Annotated[
        list[str] | None, typer.Option("--input", help="With --recipe: an input for the model; repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdicts as JSON.")] = False,
) -> None:
    """Train a toy model of FAMILY and check each promise that every family must keep.

    The exit status is 1 if a promise is broken.
    """
    if family not in FAMILIES:
        raise refuse_family(family)
    if inputs and recipe is None:
        raise Fault("--input goes with --recipe; the toy of a family has its own inputs.")
    toy = _toy(family) if recipe is None else _toy_of(recipe, inputs or [])
    from regard.promises.table import PROMISES, check_family

    verdicts = []
    with TemporaryDirectory() as folder, console_progress() as report:
        for verdict in check_family(family, toy, Path(folder)):
            verdicts.append(verdict)
            report("promises", len(verdicts), len(PROMISES) + 1)
    if as_json:
        print_json({"family": family, "promises": [verdict._asdict() for verdict in verdicts]})
    else:
        rows = [(verdict.promise, _WORDS[verdict.is_held], verdict.reason) for verdict in verdicts]
        say_table(["promise", "verdict", "reason"], rows)
    if any(verdict.is_held is False for verdict in verdicts):
        raise typer.Exit(1)


def _toy(family: str) -> "Toy":
    """Return the toy that a family's row names."""
    from regard.promises.toy import Toy

    place = FAMILIES[family].toy
    if place is None:
        raise Fault(f"The row of the family {family} names no toy to check it on; give --recipe FILE.")
    if not isinstance(toy := find_place(place), Toy):
        raise Fault(f"{place}, the toy of the family {family}, is a {type(toy).__name__}, expected a Toy.")
    return toy


def _toy_of(recipe: Path, inputs: list[str]) -> "Toy":
    from regard.base.recipe import read_table
    from regard.promises.toy import Toy

    table = read_table(recipe)
    return Toy(lambda folder: table, inputs)
