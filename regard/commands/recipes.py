"""`regard recipes`: list the included recipes, or print one."""

from typing import Annotated

import typer

from regard.console import print_json, say_table
from regard.runs.recipes import recipe_names, recipe_path, recipe_text, recipe_title


def command(
    name: Annotated[
        str | None,
        typer.Argument(help="The recipe to print.", autocompletion=recipe_names),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the recipes included with regard, or print one.

    `regard recipes NAME > mine.toml` is a good start for your own.
    """
    if name is None:
        _list_recipes(as_json)
        return
    text = recipe_text(name)
    if as_json:
        print_json({"name": recipe_path(name).stem, "title": recipe_title(text), "text": text})
    else:
        print(text, end="")


def _list_recipes(as_json: bool) -> None:
    titles = {name: recipe_title(recipe_text(name)) for name in recipe_names()}
    if as_json:
        print_json({"recipes": [{"name": name, "title": title} for name, title in titles.items()]})
    else:
        say_table(["recipe", "what it is"], list(titles.items()))
