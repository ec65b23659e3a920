"""`regard recipes`: the recipes that come with regard, as a list or one of them whole."""

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

import regard
from regard.base.faults import Fault
from regard.cli.console import print_json, say_table


def recipes_folder() -> Path:
    """Where the recipes that come with regard lie."""
    return Path(regard.__file__).parent / "recipes"


def recipe_names() -> list[str]:
    """The names one can ask for."""
    return sorted(path.stem for path in recipes_folder().glob("*.toml"))


def recipe_path(name: str) -> Path:
    """Where the recipe of that name lies, or a fault that names the nearest one there is."""
    known = recipe_names()
    wanted = name.removesuffix(".toml")
    if wanted not in known:
        near = get_close_matches(wanted, known, 1)
        hint = f"did you mean '{near[0]}'?" if near else "`regard recipes` lists them."
        raise Fault(f"There is no recipe '{name}'; {hint}")
    return recipes_folder() / f"{wanted}.toml"


def recipe_text(name: str) -> str:
    """The recipe of that name whole, comments and all."""
    return recipe_path(name).read_text(encoding="utf-8")


def recipe_title(text: str) -> str:
    """What a recipe says of itself in its first comment."""
    return next((line.lstrip("# ").rstrip() for line in text.splitlines() if line.startswith("#")), "")


def command(
    name: Annotated[
        str | None,
        typer.Argument(help="The recipe to print.", autocompletion=recipe_names),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """List the recipes that come with regard, or print one whole.

    `regard recipes NAME > mine.toml` is a good beginning for one of your own.
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
