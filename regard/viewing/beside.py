"""Matrices of words side by side, at one scale, with a caption that relates them."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_token
from regard.viewing.matrix import Matrix
from regard.viewing.written import cell_len

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CELL, _SIZE = 0.27, 9.0  # inches of a cell and points of a word, in a short sentence
_MANY, _LEAST = 22, 0.62  # number of places above which both shrink, and the limit
_TITLE = 10.0  # points
_LETTER = 0.0092  # inches of a letter, for every point of its size
_COLOURS = "Blues"
_SCALE = 1.5  # inches of the bar that explains the colours
_WIDEST = 15.0  # inches beyond which matrices are stacked
_GAP = 0.4  # inches between stacked matrices, for the title of the next


def draw_beside(matrices: Sequence[Matrix], path: Path, caption: str) -> set[str]:
    """Draw the matrices from left to right, or from top to bottom if they are too wide.

    Return the characters that no font here can draw.
    """
    check_suffix(path)
    texts = [caption, *(text for matrix in matrices for text in (matrix.title, *matrix.rows, *matrix.columns))]
    longest = max(max(matrix.weights.shape) for matrix in matrices)
    shrunk = min(1.0, max(_MANY / longest, _LEAST))
    with canvas(texts) as new_figure:
        figure = new_figure(figsize=(1, 1))  # places are in inches; saving crops to the drawing
        wide, high = _lay_out(figure, matrices, _CELL * shrunk, _SIZE * shrunk)
        _draw_scale(figure, wide)
        text = "\n".join(textwrap.wrap(caption, max(int(wide * 14), 90)))
        figure.text(0, -high - 0.05, text, fontsize=8.5, color=INK, va="top", linespacing=1.45, parse_math=False)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _lay_out(figure: "Figure", matrices: Sequence[Matrix], cell: float, size: float) -> tuple[float, float]:
    """Draw each matrix at its place, and return the total width and height, including the words."""
    left = [_widest(matrix.rows, size) for matrix in matrices]
    widths = [
        margin + max(matrix.weights.shape[1] * cell, _widest([matrix.title], _TITLE))
        for margin, matrix in zip(left, matrices, strict=True)
    ]
    heights = [matrix.weights.shape[0] * cell + _widest(matrix.columns, size) for matrix in matrices]
    level = sum(widths) <= _WIDEST
    along = down = 0.0
    for matrix, margin, width, height in zip(matrices, left, widths, heights, strict=True):
        rows, columns = matrix.weights.shape
        start = along + margin if level else max(left)
        _draw(figure.add_axes((start, -down - rows * cell, columns * cell, rows * cell)), matrix, size)
        if level:
            along += width
        else:
            down += height + _GAP
    return (along, max(heights)) if level else (max(widths), down - _GAP)


def _draw_scale(figure: "Figure", wide: float) -> None:
    """Draw the colour scale in the upper corner, to the right of all matrices."""
    from matplotlib.cm import ScalarMappable

    colours = ScalarMappable(cmap=_COLOURS)
    colours.set_clim(0, 1)
    bar = figure.colorbar(colours, cax=figure.add_axes((wide + 0.1, -_SCALE, 0.1, _SCALE)), ticks=[0, 0.5, 1])
    bar.ax.set_yticklabels(["0", "0.5", "1"])
    bar.ax.tick_params(length=2, width=0.6, color=FAINT, labelsize=8, labelcolor=INK)
    bar.set_label("weight", fontsize=8.5, color=INK)
    bar.outline.set(edgecolor=FAINT, linewidth=0.6)


def _widest(words: Sequence[str], size: float) -> float:
    """Return the inches that the longest of these words needs next to a matrix."""
    return max(map(cell_len, words)) * size * _LETTER + 0.25


def _draw(axes: "Axes", matrix: Matrix, size: float) -> None:
    rows, columns = matrix.weights.shape
    many = matrix.weights.size > 4096  # as vectors, these would take megabytes
    edges: dict[str, Any] = {} if many else {"edgecolors": "#e4e8ee", "linewidth": 0.4}
    axes.pcolormesh(matrix.weights, cmap=_COLOURS, vmin=0, vmax=1, rasterized=many, **edges)
    axes.invert_yaxis()
    axes.set_yticks(np.arange(rows) + 0.5, [show_token(word) for word in matrix.rows])
    axes.set_xticks(np.arange(columns) + 0.5, [show_token(word) for word in matrix.columns], rotation=90)
    axes.tick_params(length=0)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set(fontsize=size, color=INK, parse_math=False)
    axes.set_title(matrix.title, fontsize=_TITLE, color=INK, loc="left", pad=7, parse_math=False)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)
