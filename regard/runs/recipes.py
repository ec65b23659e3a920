"""The recipes that come with regard."""

from difflib import get_close_matches
from pathlib import Path

from regard.base.faults import Fault

FOLDER = Path(__file__).parents[1] / "recipes"


def recipe_names() -> list[str]:
    """The names one can ask for."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def recipe_path(name: str) -> Path:
    """Where the recipe of that name lies, or a fault that names the nearest one there is."""
    known = recipe_names()
    wanted = name.removesuffix(".toml")
    if wanted not in known:
        near = get_close_matches(wanted, known, 1)
        hint = f"did you mean '{near[0]}'?" if near else "`regard recipes` lists them."
        raise Fault(f"There is no recipe '{name}'; {hint}")
    return FOLDER / f"{wanted}.toml"


def recipe_text(name: str) -> str:
    """The recipe of that name whole, comments and all."""
    return recipe_path(name).read_text(encoding="utf-8")


def recipe_title(text: str) -> str:
    """Return the first comment of a recipe."""
    return next((line.lstrip("# ").rstrip() for line in text.splitlines() if line.startswith("#")), "")
