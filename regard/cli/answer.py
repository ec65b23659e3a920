"""`regard answer`: one answer for each input."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from regard.base.faults import printable
from regard.cli.console import print_json
from regard.cli.lines import TextInput


def command(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(metavar="INPUT…", help="Numbers of nodes, or files of pictures; by default standard input."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One object for each input, with all probabilities.")] = False,
) -> None:
    """Answer each INPUT, or each line of standard input, in a line of its own: the class of a node or of a picture."""
    from regard.model import load
    from regard.verbs.answer import AT_ONCE, answer_each
    from regard.verbs.table import needs

    lines = TextInput()
    if not inputs:
        lines.check()
    loaded = load(model)
    needs(loaded.recipe, "answer")
    at_once = 1 if not inputs and lines.is_typed else AT_ONCE
    for answer in answer_each(loaded.task, inputs or lines.lines(), at_once):
        if as_json:
            print_json(asdict(answer), indent=None)
        else:
            print(printable(answer.answer), flush=at_once == 1)
