"""The recipes shipped with regard, and those of plugins."""

from difflib import get_close_matches
from pathlib import Path

from regard.base.faults import Fault
from regard.base.plugins import Table

FOLDER = Path(__file__).parents[1] / "recipes"
_RECIPES = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
RECIPES: Table[str, Path] = Table("recipes", "recipe", Path, _RECIPES)


def recipe_names() -> list[str]:
    """Return the names of all recipes."""
    return list(RECIPES)


def recipe_path(name: str) -> Path:
    """Return the path of a recipe, or raise a fault that suggests the nearest name."""
    stem = name.removesuffix(".toml")
    if stem not in RECIPES:
        near = get_close_matches(stem, RECIPES, 1)
        hint = f"did you mean '{near[0]}'?" if near else "`regard recipes` lists them."
        raise Fault(f"There is no recipe '{name}'; {hint}")
    return RECIPES[stem]


def recipe_text(name: str) -> str:
    """Return the whole text of a recipe, with its comments."""
    path = recipe_path(name)
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Fault(f"The recipe {path} cannot be read: {error}.") from None


def recipe_title(text: str) -> str:
    """Return the first comment of a recipe."""
    return next((line.lstrip("# ").rstrip() for line in text.splitlines() if line.startswith("#")), "")
