"""Attention as a matrix in a terminal: words on both sides, and more ink where more was looked.

The shades ░▒▓█ mix their colour with whatever the terminal's background is, so they read alike on dark and light.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from regard.viewing.canvas import show_word
from regard.viewing.matrix import Matrix
from regard.viewing.written import fit_text

# From this weight on, this much ink; below the first, only a dot to guide the eye.
SHADES = {0.1: "░", 0.3: "▒", 0.5: "▓", 0.75: "█"}
DOT = "·"
_TALLEST = 16  # letters of a word that is written downwards
_BLUE, _BRIGHT, _DIM, _PLAIN = "\x1b[34m", "\x1b[1;36m", "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True)
class _Part:
    """Columns that stand beside each other: their places, the cells each fills, the space between, the lines above."""

    columns: range
    widths: list[int]
    gap: str
    head: list[list[str]]


def matrix_lines(matrix: Matrix, width: int, colour: bool) -> list[str]:
    """The lines of a matrix, at most `width` cells wide; columns that do not fit follow under the others.

    Words of columns stand level when they all fit, otherwise they are written downwards. With `colour`, the
    strongest look of each row stands out.
    """
    names = [show_word(word) for word in matrix.rows]
    margin = min(max(map(cell_len, names)), max(width // 3, 4))
    names = [_to_the_right(name, margin) for name in names]
    lines = [fit_text(matrix.title, width)] if matrix.title else []
    for part in _parts([show_word(word) for word in matrix.columns], width - margin - 1):
        for words in part.head:
            centred = map(_centre, words, part.widths)
            lines.append(f"{'':{margin}} {part.gap.join(centred)}".rstrip())
        for name, weights in zip(names, matrix.weights, strict=True):
            lines.append(f"{name} {part.gap.join(_shade(weights, part, colour))}".rstrip())
    return [*lines, fit_text(f"{'':{margin}} {legend_of_shades()}", width)]


def shade_of(weight: float) -> str:
    """The ink of a weight, or a dot where there is next to nothing."""
    return next((shade for least, shade in reversed(SHADES.items()) if weight >= least), DOT)


def legend_of_shades() -> str:
    """From which weight on there is how much ink."""
    return "  ".join(f"{shade} ≥ {weight}" for weight, shade in SHADES.items())


def _parts(words: list[str], room: int) -> Iterator[_Part]:
    level = [max(cell_len(word), 2) for word in words]
    if sum(level) + len(level) - 1 <= room:
        yield _Part(range(len(words)), level, " ", [words])
        return
    fit = max(room // 2, 1)
    for start in range(0, len(words), fit):
        columns = range(start, min(start + fit, len(words)))
        yield _Part(columns, [2] * len(columns), "", _downwards(words[start : start + fit]))


def _downwards(words: Sequence[str]) -> list[list[str]]:
    """One letter of each word per line, so that all words end on the last line."""
    spelt = [_letters(word) for word in words]
    spelt = [letters if len(letters) <= _TALLEST else [*letters[: _TALLEST - 1], "…"] for letters in spelt]
    tallest = max(map(len, spelt))
    columns = [[""] * (tallest - len(letters)) + letters for letters in spelt]
    return [list(line) for line in zip(*columns, strict=True)]


def _letters(word: str) -> list[str]:
    """The letters of a word, each with the marks that stand on it."""
    letters: list[str] = []
    for character in word:
        if letters and cell_len(character) == 0:
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def _shade(weights: Sequence[float], part: _Part, colour: bool) -> list[str]:
    """One row's cells: shades as wide as their columns, and dots where there is next to nothing."""
    strongest = max(weights)
    cells = []
    for column, cells_wide in zip(part.columns, part.widths, strict=True):
        weight = weights[column]
        shade = shade_of(weight)
        text = _centre(DOT, cells_wide) if shade == DOT else shade * cells_wide
        if colour:
            style = _DIM if shade == DOT else _BRIGHT if weight == strongest else _BLUE
            text = f"{style}{text}{_PLAIN}"
        cells.append(text)
    return cells


def _centre(text: str, width: int) -> str:
    spare = width - cell_len(text)
    return " " * (spare // 2) + text + " " * (spare - spare // 2)


def _to_the_right(text: str, width: int) -> str:
    text = fit_text(text, width)
    return " " * (width - cell_len(text)) + text
