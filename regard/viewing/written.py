"""Tokens, numbers, weights and tables as people read them."""

import unicodedata
from collections.abc import Sequence

from regard.viewing.canvas import show_token, show_word

_JOINING = "\u200c\u200d"  # no-break and break between letters: unseen, but they shape what stands around them
_WHOLE = 0.0995  # a probability from here on needs no decimals
_LEAST = 0.001  # and one below this is told as less than that
# From this weight on, this much ink; below the first, only a dot to guide the eye. The shades mix their colour with
# the background of a terminal, whatever it is, so they read alike on dark and light.
SHADES = {0.1: "░", 0.3: "▒", 0.5: "▓", 0.75: "█"}
DOT = "·"


def visible(piece: str) -> str:
    """A token as it can be seen, whatever it is of: odd spaces and unseen signs are spelled, a lone mark gets a letter.

    A token is shown by itself, so what would only be seen by its effect on neighbours has nothing to be seen by.
    """
    alone = all(character in _JOINING for character in piece)
    text = show_word("".join(_spell(each) if alone or _is_unseen(each) else each for each in piece))
    return f"◌{text}" if unicodedata.category(text[0]).startswith("M") else text


def visible_name(piece: str) -> str:
    """Return a token as pictures have it, with everything in it that can be seen."""
    return show_token(visible(piece))


def _is_unseen(character: str) -> bool:
    category = unicodedata.category(character)
    return (category == "Zs" and character != " ") or (category == "Cf" and character not in _JOINING)


def _spell(character: str) -> str:
    return character.encode("unicode_escape").decode()


def cell_len(text: str) -> int:
    """Return how many cells of a terminal a text fills; the import waits until something is written to one."""
    from rich import cells

    return cells.cell_len(text)


def fit_text(text: str, width: int) -> str:
    """Text in at most `width` cells of a terminal, with … where some of it had to go."""
    from rich.cells import set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def signed_number(value: float) -> str:
    """A log-probability or a score: two decimals, a minus as wide as a plus, and none before a zero."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def percent(probability: float) -> str:
    """A probability in percent, as exactly as one reads it."""
    if 0 < probability < _LEAST:
        return f"<{_LEAST * 100:.1f}\u202f%"
    return f"{probability * 100:.{0 if probability >= _WHOLE or not probability else 1}f}\u202f%"


def shade_of(weight: float) -> str:
    """The ink of a weight, or a dot where there is next to nothing."""
    return next((shade for least, shade in reversed(SHADES.items()) if weight >= least), DOT)


def legend_of_shades() -> str:
    """From which weight on there is how much ink."""
    return "  ".join(f"{shade} ≥ {weight}" for weight, shade in SHADES.items())


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a plain table: columns aligned by the cells they fill on a screen, numbers to the right."""
    lines = [list(columns), *map(list, rows)]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    right = [holds_numbers(rows, place) for place in range(len(columns))]

    def pad(text: str, place: int) -> str:
        gap = " " * (widths[place] - cell_len(text))
        return gap + text if right[place] else text + gap

    return ["  ".join(pad(text, place) for place, text in enumerate(line)).rstrip() for line in lines]


def holds_numbers(rows: Sequence[Sequence[str]], place: int) -> bool:
    """Return True if a column holds numbers alone, which are aligned to the right."""
    return bool(rows) and all(row[place][:1].isdigit() or row[place][:1] in ("-", "") for row in rows)
