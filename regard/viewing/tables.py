"""Lessons made of tables: small matrices whose numbers can be read, large ones as colours, and rows of words.

Blue is negative and orange positive; a table without negative numbers goes from white to blue.
"""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from regard.viewing.canvas import FAINT, INK, SOFT, canvas, check_suffix, missing_glyphs, save_figure, word_widths
from regard.viewing.sealed import SealedPage
from regard.viewing.written import cell_len, fit_text, table_lines, visible_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = ("page.css", "tables.css")
SCRIPT = "tables-page.js"
MOST_COLUMNS, MOST_ROWS = 14, 40  # up to which each cell shows its number
_MOST_PRINTED = 10  # rows and columns of a larger table that a terminal shows
_SIGNED = ("#1f5fa8", "#ffffff", "#c45c16")
_SIZE = 8.5  # points of words and numbers
_HIGH, _LARGE = 0.25, 2.9  # inches of a row, and of a whole table without numbers
_GAP, _TITLE, _LINE = 0.45, 0.32, 0.175  # inches between tables, of a title, and of a line of a caption
_WIDEST = 11.5  # inches beyond which tables go to the next line
_NARROW = 22  # terminal cells of a column that is never wrapped


@dataclass(frozen=True)
class NumberTable:
    """Numbers (row, column) with a name for each row and column; `digits` are those after the point.

    With `around_zero`, its colours are those of a table with negative numbers, so that both can be compared.
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: np.ndarray
    caption: str = ""
    digits: int = 2
    around_zero: bool = False

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.rows), len(self.columns)) or not self.values.size:
            raise ValueError(f"{self.values.shape} numbers for {len(self.rows)} rows and {len(self.columns)} columns")

    @property
    def is_large(self) -> bool:
        """True if it has too many cells to write numbers into them."""
        return len(self.rows) > MOST_ROWS or len(self.columns) > MOST_COLUMNS

    @property
    def is_signed(self) -> bool:
        return self.around_zero or bool(self.values.min() < 0)

    @property
    def most(self) -> float:
        """The largest absolute value, which has the fullest colour."""
        return float(np.abs(self.values).max()) or 1.0

    def number(self, value: float) -> str:
        return f"{round(float(value), self.digits) + 0.0:.{self.digits}f}"


@dataclass(frozen=True)
class WordTable:
    """Rows of words and numbers under the names of their columns."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@dataclass(frozen=True)
class TableLesson:
    """Tables in the order in which they are read, under one title."""

    title: str
    tables: Sequence[NumberTable | WordTable]


def tables_to_json(lesson: TableLesson) -> dict[str, Any]:
    """Return a lesson as plain values, with unrounded numbers."""
    return {"title": lesson.title, "tables": [_to_json(table) for table in lesson.tables]}


def _to_json(table: NumberTable | WordTable) -> dict[str, Any]:
    if isinstance(table, WordTable):
        plain: dict[str, Any] = {"columns": list(table.columns), "rows": [list(row) for row in table.rows]}
    else:
        plain = {"rows": list(table.rows), "columns": list(table.columns), "values": table.values.tolist()}
    return {"title": table.title, **plain, "caption": table.caption}


def tables_lines(lesson: TableLesson, width: int) -> list[str]:
    """Return the lines of a lesson for a terminal; of large tables some rows and columns, evenly spaced."""
    lines = [lesson.title]
    for table in lesson.tables:
        lines += ["", fit_text(table.title, width), *_printed(table, width), *textwrap.wrap(table.caption, width)]
    return lines


def _printed(table: NumberTable | WordTable, width: int) -> list[str]:
    if isinstance(table, WordTable):
        return table_lines(table.columns, _wrapped(table, width))
    rows, columns = _chosen(table, len(table.rows)), _chosen(table, len(table.columns))
    cells = [[visible_name(table.rows[row]), *(table.number(table.values[row, at]) for at in columns)] for row in rows]
    return table_lines(["", *(visible_name(table.columns[column]) for column in columns)], cells)


def _wrapped(table: WordTable, width: int) -> list[list[str]]:
    """Return the rows of a table of words, with lists that are too wide continued on further lines."""
    widths = [max(map(cell_len, column)) for column in zip(table.columns, *table.rows, strict=True)]
    wide = [column for column, own in enumerate(widths) if own > _NARROW]
    narrow = sum(own for own in widths if own <= _NARROW) + 2 * len(widths)
    room = max((width - narrow) // len(wide), _NARROW) if wide else width
    lines = []
    for row in table.rows:
        lines += [list(line) for line in zip_longest(*(_items(cell, room) for cell in row), fillvalue="")]
    return lines


def _items(cell: str, room: int) -> list[str]:
    """Return the lines of a list with commas, broken between its items."""
    lines = [""]
    for item in cell.split(", "):
        joined = f"{lines[-1]}, {item}" if lines[-1] else item
        if lines[-1] and cell_len(joined) >= room:
            lines[-1] += ","
            lines.append(item)
        else:
            lines[-1] = joined
    return lines


def _chosen(table: NumberTable, count: int) -> list[int]:
    """Return the rows or columns to print: all, or some evenly spaced ones."""
    return list(range(0, count, -(-count // _MOST_PRINTED))) if table.is_large else list(range(count))


def tables_page(lesson: TableLesson, heading: Literal["lesson", "examples"] = "lesson") -> SealedPage:
    """Return the page of tables under one of its headings."""
    return SealedPage(SCRIPT, STYLES, {"heading": heading, "title": lesson.title, "tables": tables_data(lesson)})


def tables_data(lesson: TableLesson) -> list[dict[str, Any]]:
    """Return the tables of a lesson as a page reads them."""
    return [_page_data(table) for table in lesson.tables]


def _page_data(table: NumberTable | WordTable) -> dict[str, Any]:
    if isinstance(table, WordTable):
        return {**_to_json(table), "kind": "words"}
    return {
        "kind": "numbers",
        "title": table.title,
        "caption": table.caption,
        "rows": [visible_name(name) for name in table.rows],
        "columns": [visible_name(name) for name in table.columns],
        "digits": table.digits,
        "isLarge": table.is_large,
        "isSigned": table.is_signed,
        "most": table.most,
        "values": [float(f"{value:.5g}") for value in table.values.ravel()],
    }


@dataclass(frozen=True)
class _Box:
    """A table with the inches it needs: of the row names, of each column, above the cells, of all cells' height."""

    table: NumberTable | WordTable
    left: float
    columns: list[float]
    above: float
    height: float

    @property
    def width(self) -> float:
        return max(self.left + sum(self.columns), *word_widths([self.table.title], 10), 2.6) + 0.05

    @property
    def caption(self) -> list[str]:
        return textwrap.wrap(self.table.caption, max(int(self.width * 15.5), 40))

    @property
    def tall(self) -> float:
        return _TITLE + self.above + self.height + _LINE * len(self.caption) + 0.1


def draw_tables(lesson: TableLesson, path: Path) -> set[str]:
    """Draw the tables from left to right and from top to bottom; return characters that no font here can draw."""
    check_suffix(path)
    texts = [text for table in lesson.tables for text in _texts(table)] + [lesson.title]
    with canvas(texts) as new_figure:
        figure = new_figure(figsize=(1, 1))  # places are in inches; saving crops to the drawing
        figure.text(0, 0.1, lesson.title, fontsize=12.5, color=INK, va="bottom", parse_math=False)
        along = down = tallest = 0.0
        for table in lesson.tables:
            box = _box(table)
            if along and along + box.width > _WIDEST:
                along, down, tallest = 0.0, down + tallest + _GAP / 2, 0.0
            _draw_box(figure, box, along, -down)
            along, tallest = along + box.width + _GAP, max(tallest, box.tall)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _texts(table: NumberTable | WordTable) -> list[str]:
    cells = [cell for row in table.rows for cell in row] if isinstance(table, WordTable) else table.rows
    return [table.title, table.caption, *table.columns, *cells]


def _box(table: NumberTable | WordTable) -> _Box:
    if isinstance(table, WordTable):
        columns = zip(table.columns, *table.rows, strict=True)
        widths = [max(word_widths(column, _SIZE)) + 0.25 for column in columns]
        return _Box(table, 0.0, widths, _HIGH, _HIGH * len(table.rows))
    if table.is_large:
        rows, columns = table.values.shape
        cell = _LARGE / max(rows, columns)
        return _Box(table, 0.4, [cell * columns], 0.25, cell * rows)
    left = max(word_widths([visible_name(name) for name in table.rows], _SIZE)) + 0.12
    numbers = word_widths([table.number(value) for value in table.values.ravel()], _SIZE)
    names = word_widths([visible_name(name) for name in table.columns], _SIZE)
    return _Box(table, left, [max(*names, *numbers) + 0.14] * len(names), _HIGH, _HIGH * len(table.rows))


def _draw_box(figure: "Figure", box: _Box, along: float, top: float) -> None:
    """Draw a table whose upper left corner is here."""
    figure.text(along, top - 0.2, box.table.title, fontsize=10, color=INK, parse_math=False)
    bottom = top - _TITLE - box.above - box.height
    axes = figure.add_axes((along + box.left, bottom, sum(box.columns), box.height))
    if isinstance(box.table, WordTable):
        _write_words(axes, box.table, box.columns)
    else:
        _draw_numbers(axes, box.table)
    caption = "\n".join(box.caption)
    figure.text(along, bottom - 0.08, caption, fontsize=8, color=SOFT, va="top", linespacing=1.4, parse_math=False)


def _write_words(axes: "Axes", table: WordTable, widths: Sequence[float]) -> None:
    axes.set_axis_off()
    axes.set(xlim=(0, sum(widths)), ylim=(len(table.rows), 0))
    axes.axhline(0, color=FAINT, linewidth=0.8)
    for row, cells in enumerate([table.columns, *table.rows]):
        for column, cell in enumerate(cells):
            place = (sum(widths[:column]), row - 0.5)
            colour = INK if row else SOFT
            axes.text(*place, cell, fontsize=_SIZE, color=colour, va="center", clip_on=False, parse_math=False)


def _draw_numbers(axes: "Axes", table: NumberTable) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("signed", _SIGNED if table.is_signed else _SIGNED[1::-1])
    lowest = -table.most if table.is_signed else 0.0
    edges: dict[str, Any] = {} if table.is_large else {"edgecolors": "#e4e8ee", "linewidth": 0.5}
    axes.pcolormesh(table.values, cmap=colours, vmin=lowest, vmax=table.most, rasterized=table.is_large, **edges)
    axes.invert_yaxis()
    axes.xaxis.tick_top()
    rows, columns = _chosen(table, len(table.rows)), _chosen(table, len(table.columns))
    axes.set_yticks([row + 0.5 for row in rows], [visible_name(table.rows[row]) for row in rows])
    axes.set_xticks([column + 0.5 for column in columns], [visible_name(table.columns[column]) for column in columns])
    axes.tick_params(length=0)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set(fontsize=7.5 if table.is_large else _SIZE, color=INK, parse_math=False)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)
    if not table.is_large:
        for (row, column), value in np.ndenumerate(table.values):
            colour = "white" if abs(value) > 0.6 * table.most else INK
            number = table.number(value).replace("-", "−")
            axes.text(column + 0.5, row + 0.5, number, ha="center", va="center", fontsize=_SIZE - 0.5, color=colour)
