"""Attention as links between two lines of text: keys above, queries below.

Sentences that are too long for this, or that run in opposite directions, are drawn as two columns, one word per line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from regard.viewing.canvas import (
    INK,
    canvas,
    check_suffix,
    missing_glyphs,
    runs_leftwards,
    save_figure,
    show_token,
    word_widths,
)
from regard.viewing.matrix import Matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAINTEST = 0.03  # links with smaller weights are not drawn
_COLOUR = "#1f5fa8"
_SIZE = 12.0  # points of the words
_HIGH = 0.3  # height of a word in inches, with spacing
_GAP = 0.22  # minimum inches between words
_WIDEST = 12.0  # inches that a line may fill before the lines become columns
_BETWEEN = 1.5  # inches between the two lines


@dataclass(frozen=True)
class Link:
    """A line from a row's word to a column's word, as strong as its weight."""

    row: int
    column: int
    weight: float


@dataclass(frozen=True)
class LineLayout:
    """The places of words in inches: where the links of each row and column end."""

    rows: list[tuple[float, float]]
    columns: list[tuple[float, float]]
    beside: bool  # two columns with one word per line, rather than two lines


def links(matrix: Matrix) -> list[Link]:
    """Return the links worth drawing, the strongest last so that it is on top."""
    visible = [
        Link(row, column, float(weight))
        for row, weights in enumerate(matrix.weights)
        for column, weight in enumerate(weights)
        if weight >= FAINTEST
    ]
    return sorted(visible, key=lambda link: link.weight)


def lay_out(matrix: Matrix) -> LineLayout:
    """Place the columns' words above the rows' if both lines fit and run in the same direction, else to the left."""
    leftwards = runs_leftwards(matrix.rows)
    row_widths, column_widths = word_widths(matrix.rows, _SIZE), word_widths(matrix.columns, _SIZE)
    width = max(_natural(row_widths), _natural(column_widths))
    # If the lines ran in opposite directions, every link would cross every other.
    if width > _WIDEST or leftwards != runs_leftwards(matrix.columns):
        return _beside(len(row_widths), len(column_widths))
    rows, columns = (_spread(line, width) for line in (row_widths, column_widths))
    if leftwards:
        rows, columns = ([width - x for x in line] for line in (rows, columns))
    return LineLayout([(x, 0.0) for x in rows], [(x, _BETWEEN) for x in columns], beside=False)


def _beside(rows: int, columns: int) -> LineLayout:
    height = _HIGH * max(rows, columns)
    right, left = ([height - y for y in _spread([_HIGH] * count, height)] for count in (rows, columns))
    return LineLayout([(2 * _BETWEEN, y) for y in right], [(0.0, y) for y in left], beside=True)


def draw_lines(matrix: Matrix, path: Path) -> set[str]:
    """Draw the two lines and the links between them; return the characters that no font here can draw."""
    check_suffix(path)
    texts = [matrix.title, *matrix.rows, *matrix.columns]
    with canvas(texts) as new_figure:
        layout = lay_out(matrix)
        width, height = (max(places) for places in zip(*layout.rows, *layout.columns, strict=True))
        figure = new_figure(figsize=(width, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(0, height))
        axes.set_axis_off()
        for link in links(matrix):
            _draw_link(axes, link, layout)
        _write(axes, matrix.columns, layout.columns, "left" if layout.beside else "above")
        _write(axes, matrix.rows, layout.rows, "right" if layout.beside else "below")
        axes.set_title(matrix.title, fontsize=12, pad=32, color=INK, parse_math=False)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _natural(widths: Sequence[float]) -> float:
    return sum(widths) + _GAP * (len(widths) + 1)


def _spread(sizes: Sequence[float], room: float) -> list[float]:
    """Return the centres of items of these sizes, placed in `room` with equal gaps around them."""
    gap = (room - sum(sizes)) / (len(sizes) + 1)
    ends = accumulate(size + gap for size in sizes)
    return [end - size / 2 for end, size in zip(ends, sizes, strict=True)]


def _draw_link(axes: "Axes", link: Link, layout: LineLayout) -> None:
    """Draw a curve that leaves one word and reaches the other straight."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Curve

    (x1, y1), (x2, y2) = layout.columns[link.column], layout.rows[link.row]
    if layout.beside:
        bends = [((x1 + x2) / 2, y1), ((x1 + x2) / 2, y2)]
    else:
        bends = [(x1, (y1 + y2) / 2), (x2, (y1 + y2) / 2)]
    curve = Curve([(x1, y1), *bends, (x2, y2)], [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4])
    strength = min(link.weight, 1.0)
    patch = PathPatch(curve, fill=False, color=_COLOUR, alpha=strength, linewidth=0.7 + 2.3 * strength, clip_on=False)
    patch.set_gid(f"link-{link.row}-{link.column}")  # its name in an SVG
    axes.add_patch(patch)


# Where a word is placed at the end of its links: the offset in points, and the text's anchor.
_ANCHORS = {
    "above": ((0, 5), "center", "baseline"),
    "below": ((0, -15), "center", "baseline"),
    "left": ((-6, 0), "right", "center_baseline"),
    "right": ((6, 0), "left", "center_baseline"),
}


def _write(axes: "Axes", words: Sequence[str], places: Sequence[tuple[float, float]], where: str) -> None:
    offset, across, along = _ANCHORS[where]
    for word, place in zip(words, places, strict=True):
        text = axes.annotate(show_token(word), place, xytext=offset, textcoords="offset points", annotation_clip=False)
        text.set(ha=across, va=along, fontsize=_SIZE, color=INK, parse_math=False)
