"""`regard families`: which families of models there are, and the papers they come from."""

from typing import Annotated

import typer

from regard.cli.console import print_json, say_table
from regard.families import FAMILIES


def command(as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False) -> None:
    """List the families of models, what each is for and the paper it comes from."""
    if as_json:
        families = [
            {"name": name, "summary": family.summary, "task": family.task, "paper": family.paper}
            for name, family in FAMILIES.items()
        ]
        print_json({"families": families})
        return
    rows = [(name, family.task, family.summary, family.paper) for name, family in FAMILIES.items()]
    say_table(["family", "task", "what it is", "paper"], rows)
