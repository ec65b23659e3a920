"""One attention head step by step: the matrix of every stage as text, picture, numbers and page."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import (
    FAINT,
    INK,
    SOFT,
    canvas,
    check_suffix,
    missing_glyphs,
    save_figure,
    show_token,
    show_word,
)
from regard.viewing.sealed import SealedPage
from regard.viewing.texts import read_texts
from regard.viewing.written import table_lines, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

SCRIPT = "head-steps-page.js"
STYLES = ("page.css", "slots.css", "lessons.css")
SHOWN = 8  # columns of a wide matrix that are shown; files of numbers have all
_ACROSS = 3  # panels in a row of the picture
_CELL = (0.52, 0.26)  # inches of a number in the picture
_LABEL = 1.15  # inches for the names of rows


@dataclass(frozen=True)
class Stage:
    """One step: its name (a text `stages.NAME`), its formula, and its matrix with names of rows and columns.

    `query` is the row of the query that is followed, if the stage has a row for it.
    """

    name: str
    formula: str
    rows: Sequence[str]
    columns: Sequence[str]  # names of keys; coordinates have no names
    values: np.ndarray
    query: int | None = None

    @property
    def heads(self) -> list[str]:
        """Names of the columns that are shown: keys, or the numbers of coordinates."""
        return [show_token(name) for name in self.columns] or [str(place + 1) for place in range(self.shown)]

    @property
    def shown(self) -> int:
        """Number of columns that are shown."""
        return len(self.columns) or min(self.values.shape[1], SHOWN)


@dataclass(frozen=True)
class HeadSteps:
    """All stages of one head for one text; `query` is the token that looks.

    `side` is empty where a model has only one, and `layer` is 0 for the example.
    """

    text: str
    side: str
    layer: int
    head: int
    query: str
    stages: Sequence[Stage]

    @property
    def where(self) -> str:
        """The head in English words."""
        if not self.layer:
            return "a causal head of width 4"
        head = f"block {self.layer}, head {self.head}"
        return f"{self.side}, {head}" if self.side else head


def stage_title(name: str) -> str:
    """Return the English title of a stage."""
    return str(read_texts()["en"][f"stages.{name}"])


def stage_about(name: str) -> str:
    """Return the English sentence that explains a stage."""
    return str(read_texts()["en"][f"stages_about.{name}"])


def fixed_text(value: float, digits: int) -> str:
    """Return a number with this many decimals."""
    if np.isinf(value):
        return "−∞" if value < 0 else "∞"
    text = f"{value:.{digits}f}"
    return text.replace("-", "−" if float(text) else "")


def number_text(value: float) -> str:
    """Return a number with at most two decimals, without trailing zeros."""
    text = fixed_text(value, 2)
    return text.rstrip("0").rstrip(".") if "." in text else text


def steps_lines(steps: HeadSteps, width: int) -> list[str]:
    """Return the stages as tables for a terminal, with a mark at the row of the query."""
    lines = [steps.where, f"text: {steps.text}", f"query: {show_token(steps.query)}"]
    for number, stage in enumerate(steps.stages, 1):
        lines += ["", f"{number}. {stage_title(stage.name)}   {stage.formula}".rstrip()]
        lines += textwrap.wrap(stage_about(stage.name), max(width, 20), initial_indent="   ", subsequent_indent="   ")
        lines += [f"   {line}" for line in table_lines(["", *stage.heads], _table_rows(stage))]
        if stage.shown < stage.values.shape[1]:
            lines.append(f"     … {stage.values.shape[1]} columns in all")
    return lines


def _table_rows(stage: Stage) -> list[list[str]]:
    """Return the rows of a table with a mark at the query; all numbers have as many decimals, and align."""
    values = stage.values[:, : stage.shown]
    is_whole = (np.round(values, 2) == np.round(values)) | np.isinf(values)
    digits = 0 if is_whole.all() else 2
    cells = [[fixed_text(value, digits) for value in row] for row in values]
    wide = [max(map(len, (head, *column))) for head, column in zip(stage.heads, zip(*cells, strict=True), strict=True)]
    return [
        [f"{'›' if place == stage.query else ' '} {show_token(name)}", *map(str.rjust, row, wide)]
        for place, (name, row) in enumerate(zip(stage.rows, cells, strict=True))
    ]


def steps_to_json(steps: HeadSteps) -> dict[str, Any]:
    """Return the stages as plain values with all columns; a barred place of the mask is null."""
    return {
        "text": steps.text,
        "where": steps.where,
        "query": steps.query,
        "stages": [
            {
                "name": stage.name,
                "title": stage_title(stage.name),
                "formula": stage.formula,
                "rows": list(stage.rows),
                "columns": list(stage.columns),
                "query": stage.query,
                "values": plain_numbers(stage.values),
            }
            for stage in steps.stages
        ],
    }


def plain_numbers(values: np.ndarray) -> list[list[float | None]]:
    """Return a matrix as lists, with None for −∞, which JSON does not have."""
    numbers = values.astype(object)
    numbers[~np.isfinite(values)] = None
    plain: list[list[float | None]] = numbers.tolist()
    return plain


def steps_page(steps: HeadSteps) -> SealedPage:
    """Return the page that steps through the stages."""
    data = {
        "text": show_word(steps.text),
        "side": steps.side,
        "layer": steps.layer,
        "head": steps.head,
        "query": visible(steps.query),
        "stages": [
            {
                "name": stage.name,
                "formula": stage.formula,
                "rows": [visible(name) for name in stage.rows],
                "columns": [visible(name) for name in stage.columns] or stage.heads,
                "query": stage.query,
                "width": stage.values.shape[1],
                "values": plain_numbers(np.round(stage.values[:, : stage.shown], 4)),
            }
            for stage in steps.stages
        ],
    }
    return SealedPage(SCRIPT, STYLES, data)


def draw_steps(steps: HeadSteps, path: Path) -> set[str]:
    """Draw every stage as a panel of numbers; return the characters that no font here can draw."""
    check_suffix(path)
    texts = [steps.text, steps.query, *(name for stage in steps.stages for name in (*stage.rows, *stage.columns))]
    with canvas(texts) as new_figure:
        save_figure(_figure(steps, new_figure), path)
    return missing_glyphs(texts)


def _figure(steps: HeadSteps, new_figure: "type[Figure]") -> "Figure":
    panels = [steps.stages[first : first + _ACROSS] for first in range(0, len(steps.stages), _ACROSS)]
    wide = _LABEL + _CELL[0] * max(stage.shown for stage in steps.stages) + 0.55
    heights = [_CELL[1] * max(len(stage.rows) for stage in row) + 1.0 for row in panels]
    figure = new_figure(figsize=(wide * _ACROSS, sum(heights) + 0.5))
    total = sum(heights) + 0.5
    title = f"{steps.where}: {show_token(steps.text)}"
    figure.text(0.005, 1 - 0.2 / total, title, fontsize=12, color=INK, va="center", parse_math=False)
    top = total - 0.5
    for row, height in zip(panels, heights, strict=True):
        for across, stage in enumerate(row):
            size = _CELL[0] * stage.shown, _CELL[1] * len(stage.rows)
            left, bottom = across * wide + _LABEL, top - 0.62 - size[1]
            place = (left / (wide * _ACROSS), bottom / total, size[0] / (wide * _ACROSS), size[1] / total)
            number = steps.stages.index(stage) + 1
            _draw_stage(figure.add_axes(place), stage, f"{number}. {stage_title(stage.name)}")
        top -= height
    return figure


def _draw_stage(axes: "Axes", stage: Stage, title: str) -> None:
    """Draw a matrix with its numbers in cells, orange above zero and blue below."""
    values = stage.values[:, : stage.shown]
    finite = np.where(np.isfinite(values), values, 0)
    scale = max(float(np.abs(finite).max(initial=0)), 1e-9)
    axes.imshow(finite / scale, cmap=number_colours(), vmin=-1, vmax=1, aspect="auto")
    for row, column in np.ndindex(*values.shape):
        text = number_text(float(values[row, column]))
        axes.text(column, row, text, ha="center", va="center", fontsize=7.5, color=INK)
    axes.set_yticks(range(len(stage.rows)), [_short(name) for name in stage.rows])
    axes.set_xticks(range(stage.shown), [_short(name, 7) for name in stage.heads])
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=7.5, labelcolor=SOFT, pad=2)
    for place, label in enumerate(axes.get_yticklabels()):
        label.set(parse_math=False, color=INK, fontweight="bold" if place == stage.query else "normal")
    for label in axes.get_xticklabels():
        label.set(parse_math=False)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.6)
    hidden = stage.values.shape[1] - stage.shown
    formula = f"{stage.formula}   (+{hidden} columns)" if hidden else stage.formula
    for text, lift, size, colour in ((title, 28, 9, INK), (formula, 17, 8, SOFT)):
        axes.annotate(
            text, (0, 1), xycoords="axes fraction", xytext=(-_LABEL * 72 * 0.8, lift), textcoords="offset points",
            fontsize=size, color=colour, annotation_clip=False, parse_math=False,
        )  # fmt: skip


def number_colours() -> "Colormap":
    """Return the colours of numbers as on the page and in tables: blue below zero, orange above."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("numbers", ["#86b1de", "#fbfbfb", "#eba57f"])


def _short(name: str, most: int = 12) -> str:
    shown = show_token(name)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
