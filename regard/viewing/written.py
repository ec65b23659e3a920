"""Tokens, numbers, weights and tables as text."""

import re
import unicodedata
from collections.abc import Sequence

from regard.viewing.canvas import show_token, show_word

_JOINING = "\u200c\u200d"  # zero-width joiners: invisible, but they shape the letters around them
_WHOLE = 0.0995  # a probability from here on is shown without decimals
_LEAST = 0.001  # a smaller probability is shown as less than this
# The shade from each weight on; below the first, only a dot to guide the eye. The shades mix their colour with the
# background of a terminal, so they read alike on dark and light.
SHADES = {0.1: "░", 0.3: "▒", 0.5: "▓", 0.75: "█"}
DOT = "·"
# A cell that begins with a digit, one number with a sign, a mark or spaces around it, or a dash for a missing one.
_NUMBER = re.compile(r"\d|\s*(› *)?[<+−-]?(\d\S*|∞)(\s?%|\s?±.*)?\s*$|\s*[-–]?\s*$")


def visible(piece: str) -> str:
    """Return a token with everything visible: odd spaces and invisible signs are escaped, and a lone mark gets a base.

    A token is shown by itself, so signs that only affect their neighbours would be invisible.
    """
    alone = all(character in _JOINING for character in piece)
    text = show_word(
        "".join(_spell(character_) if alone or _is_unseen(character_) else character_ for character_ in piece)
    )
    return f"◌{text}" if unicodedata.category(text[0]).startswith("M") else text


def visible_name(piece: str) -> str:
    """Return a token for pictures, with everything visible."""
    return show_token(visible(piece))


def _is_unseen(character: str) -> bool:
    category = unicodedata.category(character)
    return (category == "Zs" and character != " ") or (category == "Cf" and character not in _JOINING)


def _spell(character: str) -> str:
    return character.encode("unicode_escape").decode()


def cell_len(text: str) -> int:
    """Return the number of terminal cells that a text fills; imports rich only when needed."""
    from rich import cells

    return cells.cell_len(text)


def fit_text(text: str, width: int) -> str:
    """Return text in at most `width` terminal cells, with … if it was cut."""
    from rich.cells import set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def signed_number(value: float) -> str:
    """Format a log-probability or score: two decimals, a minus as wide as a plus, and none before zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def percent(probability: float) -> str:
    """Format a probability in percent, with a decimal only if it is small."""
    if 0 < probability < _LEAST:
        return f"<{_LEAST * 100:.1f}\u202f%"
    return f"{probability * 100:.{0 if probability >= _WHOLE or not probability else 1}f}\u202f%"


def shade_of(weight: float) -> str:
    """Return the shade of a weight, or a dot if it is near zero."""
    return next((shade for least, shade in reversed(SHADES.items()) if weight >= least), DOT)


def legend_of_shades(margin: int, width: int) -> str:
    """Return a legend of the shades behind a margin, which shrinks where the terminal is narrow."""
    legend = "  ".join(f"{shade} ≥ {weight}" for weight, shade in SHADES.items())
    return fit_text(" " * min(margin, max(0, width - cell_len(legend))) + legend, width)


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a plain table: columns aligned by their width on a screen, numbers to the right."""
    lines = [list(columns), *map(list, rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    right = [holds_numbers(rows, place) for place in range(len(columns))]

    def pad(text: str, place: int) -> str:
        gap = " " * (widths[place] - cell_len(text))
        return gap + text if right[place] else text + gap

    return ["  ".join(pad(text, place) for place, text in enumerate(line)).rstrip() for line in lines]


def holds_numbers(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Return True if a column holds only numbers, or dashes for missing ones, which are aligned to the right."""
    return bool(rows) and all(_NUMBER.match(row[place]) for row in rows)
