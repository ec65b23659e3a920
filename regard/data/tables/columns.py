"""Choice of columns, such as `--columns 1+3:2` or `text:label`.

Colons separate inputs and outputs, and plus signs join columns. A column is a number, counted from 1, or a name. A name
in double quotes may hold anything, with two double quotes for one: `"ratio a:b":"2024"`.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from regard.base.faults import Fault
from regard.base.figures import quantity

_COLUMN = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^":+]+))\s*')
_HOW = "expected numbers or names with + and : between them, as in 1+3:2 or text:label, and quotes around odd names"
_SHOWN = 12  # names of columns in a fault


@dataclass(frozen=True)
class Column:
    """One column of a table, by its name or, if that is empty, by its number, counted from 1."""

    name: str = ""
    number: int = 0

    def __str__(self) -> str:
        return self.name or f"column {self.number}"


Part = tuple[Column, ...]


def parse_columns(text: str) -> tuple[Part, ...]:
    """Parse a choice of columns; raise ValueError with advice if it is malformed."""
    parts: list[list[Column]] = [[]]
    place = 0
    while match := _COLUMN.match(text, place):
        quoted, bare = match.groups()
        parts[-1].append(_column(bare.strip()) if quoted is None else Column(_normal(quoted.replace('""', '"'))))
        place = match.end()
        if place == len(text):
            break
        if text[place] == ":":
            parts.append([])
        elif text[place] != "+":
            break
        place += 1
    if place < len(text) or not all(parts) or text.endswith((":", "+")):
        raise ValueError(f"columns are {text!r}, {_HOW}")
    return tuple(map(tuple, parts))


def _column(text: str) -> Column:
    if not (text.isascii() and text.isdigit()):
        if not text:
            raise ValueError(f"a column has no name, {_HOW}")
        return Column(_normal(text))
    if not 1 <= (number := int(text[:9])) <= 10_000:
        raise ValueError(f"there is no column {text}; columns are counted from 1")
    return Column(number=number)


def _normal(name: str) -> str:
    if not name.strip():
        raise ValueError(f"a column has no name, {_HOW}")
    return unicodedata.normalize("NFC", name)


def named(*parts: str) -> tuple[Part, ...]:
    """Return parts of one column each, by literal names."""
    return tuple((Column(unicodedata.normalize("NFC", name)),) for name in parts)


def place_of(column: Column, names: Sequence[str], width: int, file: str) -> int:
    """Return the place of a column, counted from 0, in a table with `width` columns and optional names."""
    if not column.name:
        if column.number > width:
            raise Fault(f"{file} has {columns_in_words(names, width)}; there is no column {column.number}.")
        return column.number - 1
    if not names:
        raise Fault(f"{file} does not name its columns, so '{column.name}' is unknown; choose them by number.")
    places = [place for place, name in enumerate(names) if name == column.name]
    if len(places) > 1:
        numbers = " and ".join(str(place + 1) for place in places)
        raise Fault(f"{file} uses the name '{column.name}' for the columns {numbers}; choose one by its number.")
    if not places:
        near = get_close_matches(column.name, names, 1)
        hint = f" Did you mean '{near[0]}'?" if near else " If these are not names, choose columns by number."
        raise Fault(f"{file} has no column '{column.name}'; it has {listed_names(names)}.{hint}")
    return places[0]


def columns_in_words(names: Sequence[str], width: int) -> str:
    """Return how many columns there are, and their names if the file has any."""
    count = quantity(width, "column")
    return f"{count} ({listed_names(names)})" if names else count


def listed_names(names: Sequence[str]) -> str:
    """Return names with commas between them; of many, only the first."""
    return ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
