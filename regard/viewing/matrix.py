"""Attention as a matrix of words: as a picture, as numbers and in a terminal."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, repeat, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import (
    FAINT,
    INK,
    SOFT,
    canvas,
    check_suffix,
    save_figure,
    show_token,
    show_word,
    word_widths,
)
from regard.viewing.canvas import missing_glyphs as missing_glyphs
from regard.viewing.written import DOT, cell_len, fit_text, legend_of_shades, shade_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

_COLOURS = "Blues"
_FEW = 12  # rows and columns up to which numbers in cells are readable
_WORTH_A_NUMBER = 0.1
_LONG_WORD = 22  # letters
_MOST_LABELLED = 96  # rows and columns of a sheet's panel beyond which words would overlap
_TALLEST = 16  # letters of a word written downwards
_BLUE, _BRIGHT, _DIM, _PLAIN = "\x1b[34m", "\x1b[1;36m", "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True)
class Matrix:
    """Weights (row, column) with a word for each row, the query, and for each column, the key."""

    title: str
    rows: list[str]
    columns: list[str]
    weights: np.ndarray
    axes: tuple[str, str] = ("", "")  # labels of rows and columns

    def __post_init__(self) -> None:
        rows, columns = len(self.rows), len(self.columns)
        if self.weights.shape != (rows, columns):
            raise ValueError(f"weights of shape {self.weights.shape} do not fit {rows} rows and {columns} columns")
        if not rows or not columns:
            raise ValueError("a matrix without rows or without columns shows nothing")


def to_json(matrices: Sequence[Matrix]) -> dict[str, Any]:
    """Return the matrices as plain values, with unrounded numbers."""
    return {
        "matrices": [
            {
                "title": matrix.title,
                "rows": list(matrix.rows),
                "columns": list(matrix.columns),
                "weights": matrix.weights.tolist(),
            }
            for matrix in matrices
        ]
    }


def entropy(weights: np.ndarray) -> float:
    """Return the mean entropy of the rows in nats, -Σ w ln w: 0 for a single place, ln n for n equal places."""
    positive = np.where(weights > 0, weights, 1.0)
    return max(0.0, float(-(positive * np.log(positive)).sum(axis=-1).mean()))


def draw_matrix(matrix: Matrix, path: Path) -> set[str]:
    """Draw one matrix as large as its words need; return the characters that no font here can draw."""
    check_suffix(path)
    texts = [matrix.title, *matrix.rows, *matrix.columns]
    with canvas(texts) as new_figure:
        size = _font_size(max(matrix.weights.shape))
        wide, high = _cell(matrix, size)
        width, height = wide * len(matrix.columns), high * len(matrix.rows)
        figure = new_figure(figsize=(width, height))
        axes = figure.add_axes((0, 0, 1, 1))
        mesh = _draw_cells(axes, matrix)
        _write_rows(axes, matrix.rows, size)
        _write_columns(axes, matrix.columns, size, wide)
        if max(matrix.weights.shape) <= _FEW:
            _write_numbers(axes, matrix.weights, size)
        axes.set_title(matrix.title, fontsize=max(size + 1, 11), pad=10, color=INK, parse_math=False)
        axes.set_ylabel(matrix.axes[0], fontsize=size, color=SOFT)
        axes.set_xlabel(matrix.axes[1], fontsize=size, color=SOFT)
        axes.xaxis.set_label_position("top")
        tall = min(1.0, 2.5 / height)
        bar = figure.colorbar(mesh, cax=figure.add_axes((1 + 0.2 / width, 1 - tall, 0.11 / width, tall)))
        _dress_scale(bar.ax, 8.5)
        save_figure(figure, path)
    return missing_glyphs(texts)


def draw_sheet(matrices: Sequence[Matrix], path: Path, across: int | Sequence[int] | None = None) -> set[str]:
    """Draw many matrices as small multiples, such as a line for each block and a panel for each head.

    `across` is the number per line, or a list of numbers if the lines differ. Panels with the same words as the one to
    their left, or the one below, omit the words; very large panels have none.
    """
    check_suffix(path)
    if not matrices:
        raise ValueError("a sheet needs at least one matrix")
    lines = _break_lines(matrices, across or math.ceil(math.sqrt(len(matrices))))
    texts = [text for matrix in matrices for text in (matrix.title, *matrix.rows, *matrix.columns)]
    with canvas(texts) as new_figure:
        figure, grid = _sheet(lines, new_figure)
        for (line, place), axes in np.ndenumerate(grid):
            if place < len(lines[line]):
                mesh = _draw_panel(axes, lines, line, place)
            else:
                axes.set_visible(False)
        figure.supylabel(matrices[0].axes[0], fontsize=8, color=SOFT)
        figure.supxlabel(matrices[0].axes[1], fontsize=8, color=SOFT)
        tall = min(0.9, 2.5 / figure.get_figheight())
        bar = figure.colorbar(mesh, ax=grid, shrink=tall, aspect=22, pad=0.02, anchor=(0, 1), fraction=0.03)
        _dress_scale(bar.ax, 8)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _break_lines(matrices: Sequence[Matrix], across: int | Sequence[int]) -> list[list[Matrix]]:
    """Return the matrices in lines, of which the last may be shorter."""
    rest = iter(matrices)
    counts = repeat(across) if isinstance(across, int) else iter(across)
    return list(takewhile(bool, (list(islice(rest, count)) for count in counts)))


def _sheet(lines: list[list[Matrix]], new_figure: "type[Figure]") -> "tuple[Figure, np.ndarray]":
    across, down = max(map(len, lines)), len(lines)
    rows, columns = np.max([matrix.weights.shape for line in lines for matrix in line], axis=0)
    cell = min(0.18, 4 / max(rows, columns))  # inches; no panel grows beyond four
    figure = new_figure(
        figsize=(across * (columns * cell + 0.25) + 1.2, down * (rows * cell + 0.35) + 0.8), layout="constrained"
    )
    return figure, figure.subplots(down, across, squeeze=False)


def _draw_panel(axes: "Axes", lines: list[list[Matrix]], line: int, place: int) -> "ScalarMappable":
    matrix = lines[line][place]
    mesh = _draw_cells(axes, matrix)
    axes.set_aspect("equal")
    axes.set_title(matrix.title, fontsize=8, pad=4, color=INK, parse_math=False)
    size = float(np.interp(max(matrix.weights.shape), [22, 80], [7, 3]))
    crowded = max(matrix.weights.shape) > _MOST_LABELLED
    labelled_left = place and lines[line][place - 1].rows == matrix.rows
    under = lines[line + 1][place : place + 1] if line + 1 < len(lines) else []
    labelled_below = any(other.columns == matrix.columns for other in under)
    _write_rows(axes, [] if labelled_left or crowded else matrix.rows, size)
    words = [] if labelled_below or crowded else matrix.columns
    axes.set_xticks(np.arange(len(words)) + 0.5, [show_token(word) for word in words], rotation=90)
    _dress_labels(axes.get_xticklabels(), size)
    return mesh


def _draw_cells(axes: "Axes", matrix: Matrix) -> "ScalarMappable":
    """Draw the coloured cells, first row on top; as vectors, unless there are too many."""
    many = matrix.weights.size > 4096
    mesh = axes.pcolormesh(
        matrix.weights,
        cmap=_COLOURS,
        vmin=0,
        vmax=1,
        edgecolors="none" if many else "#e4e8ee",
        linewidth=0 if many else 0.4,
        rasterized=many,
    )
    axes.invert_yaxis()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)
    return mesh


def _write_rows(axes: "Axes", words: Sequence[str], size: float) -> None:
    axes.set_yticks(np.arange(len(words)) + 0.5, [show_token(word) for word in words])
    _dress_labels(axes.get_yticklabels(), size)


def _write_columns(axes: "Axes", words: Sequence[str], size: float, cell: float) -> None:
    """Write words above the columns: level if each is narrower than its cell, slanted otherwise."""
    level = _widest(words, size) < cell
    slant: dict[str, Any] = {} if level else {"rotation": 45, "ha": "left", "rotation_mode": "anchor"}
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(len(words)) + 0.5, [show_token(word) for word in words], **slant)
    _dress_labels(axes.get_xticklabels(), size)


def _dress_labels(labels: Iterable[Any], size: float) -> None:
    for label in labels:
        # A word may contain dollar signs, which are not mathematics here.
        label.set(fontsize=size * _shrunk(label.get_text()), color=INK, parse_math=False)


def _shrunk(word: str) -> float:
    """Return the factor by which a very long word is shrunk to leave room for the matrix."""
    return max(0.65, min(1.0, _LONG_WORD / max(len(word), 1)))


def _write_numbers(axes: "Axes", weights: np.ndarray, size: float) -> None:
    for (row, column), weight in np.ndenumerate(weights):
        if weight >= _WORTH_A_NUMBER:
            number = f"{weight:.2f}".removeprefix("0")
            colour = "white" if weight > 0.5 else INK
            place = (column + 0.5, row + 0.5)
            axes.text(*place, number, ha="center", va="center_baseline", fontsize=size - 2.5, color=colour)


def _dress_scale(axes: "Axes", size: float) -> None:
    axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.tick_params(length=2, width=0.6, color=FAINT, labelsize=size, labelcolor=INK)
    axes.set_ylabel("attention", fontsize=size, color=INK)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.6)


def _font_size(longest: int) -> float:
    """Return the font size in points: large for a sentence, small for a paragraph, tiny for a page."""
    return min(float(np.interp(longest, [20, 60, 150], [11, 8, 5])), 1000 / longest)


def _cell(matrix: Matrix, size: float) -> tuple[float, float]:
    """Return the inches of a cell: wide enough for level words in a short sentence, otherwise a square."""
    high = size / 28
    wide = _widest(matrix.columns, size) + 0.14
    return (max(high, wide) if wide <= 0.85 and len(matrix.columns) <= _FEW else high), high


def _widest(words: Sequence[str], size: float) -> float:
    return max(word_widths(words, size))


@dataclass(frozen=True)
class _Part:
    """Columns that fit side by side: their places, the cells of each, the space between, and the lines above."""

    columns: range
    widths: list[int]
    gap: str
    head: list[list[str]]


def matrix_lines(matrix: Matrix, width: int, colour: bool) -> list[str]:
    """Return the lines of a matrix, at most `width` cells wide; columns that do not fit follow below the others.

    Words of columns are level if they all fit, otherwise they are written downwards. With `colour`, the largest weight
    of each row stands out.
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
    return [*lines, legend_of_shades(margin + 1, width)]


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
    """Return one letter of each word per line, so that all words end on the last line."""
    spelt = [_letters(word) for word in words]
    spelt = [letters if len(letters) <= _TALLEST else [*letters[: _TALLEST - 1], "…"] for letters in spelt]
    tallest = max(map(len, spelt))
    columns = [[""] * (tallest - len(letters)) + letters for letters in spelt]
    return [list(line) for line in zip(*columns, strict=True)]


def _letters(word: str) -> list[str]:
    """Return the letters of a word, each with its combining marks."""
    letters: list[str] = []
    for character in word:
        if letters and cell_len(character) == 0:
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def _shade(weights: Sequence[float], part: _Part, colour: bool) -> list[str]:
    """Return one row's cells: shades as wide as their columns, and dots for weights near zero."""
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
