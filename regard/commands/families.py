"""`regard families`: list the model families with their papers and commands."""

from typing import Annotated

import typer

from regard.console import print_json, say_table
from regard.families import FAMILIES


def command(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the model families: what each is for, the paper it comes from, and the commands it supports."""
    from regard.families.abilities import verbs_of

    verbs = {
        name: list(dict.fromkeys(verb for task in family.tasks for verb in verbs_of(name, task)))
        for name, family in FAMILIES.items()
    }
    if as_json:
        families = [
            {
                "name": name,
                "summary": family.summary,
                "paper": family.paper,
                "tasks": list(family.tasks),
                "verbs": verbs[name],
            }
            for name, family in FAMILIES.items()
        ]
        print_json({"families": families})
        return
    rows = [
        (name, ", ".join(family.tasks), family.summary, family.paper, ", ".join(verbs[name]))
        for name, family in FAMILIES.items()
    ]
    say_table(["family", "tasks", "what it is", "paper", "commands"], rows)
