"""Hops over the facts of a story: a line for each fact, a column for each hop."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.viewing.canvas import (
    FAINT,
    INK,
    SOFT,
    canvas,
    check_suffix,
    missing_glyphs,
    save_figure,
    show_word,
    word_widths,
)
from regard.viewing.looks import LooksBetween
from regard.viewing.sealed import SealedPage, whole_steps
from regard.viewing.sides import Facts, Steps
from regard.viewing.view import Drawing, DrawingRequest
from regard.viewing.written import cell_len, fit_text, percent, shade_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("page.css", "facts.css")
SCRIPT = "facts-page.js"
_SIZE = 10.0  # points of the text
_LINE, _CELL = 0.3, 0.72  # inches of a line, and of a hop's column
_GAP = 0.25  # inches between the facts and the hops
_TINT = (0.12, 0.37, 0.66)
_BRIGHT, _PLAIN = "\x1b[1;36m", "\x1b[0m"
_HOP = 8  # cells of a hop: a shade and a percentage


@dataclass(frozen=True)
class Hops:
    """A story and the weights (hop, fact) of its facts; `forgotten` are the facts before them."""

    facts: list[str]
    question: str
    answer: str
    hops: list[str]
    weights: np.ndarray
    forgotten: list[str]

    def __post_init__(self) -> None:
        if self.weights.shape != (len(self.hops), len(self.facts)):
            raise ValueError(
                f"weights {self.weights.shape} do not fit {len(self.hops)} hops and {len(self.facts)} facts"
            )


def to_json(hops: Hops) -> dict[str, Any]:
    """Return the hops as plain values, with unrounded numbers."""
    return {**vars(hops), "weights": hops.weights.tolist()}


def from_json(value: Mapping[str, Any]) -> Hops:
    """Return the hops that `to_json` was given."""
    return Hops(**{**value, "weights": np.array(value["weights"])})


def forgotten_in_words(hops: Hops) -> str:
    """Return a sentence that says how many facts are missing, or an empty string."""
    count = len(hops.forgotten)
    if not count:
        return ""
    return "1 earlier fact is forgotten" if count == 1 else f"{count} earlier facts are forgotten"


def facts_data(hops: Hops) -> dict[str, Any]:
    """Return the data of the view: weights as whole ten-thousandths, hop by hop."""
    return {
        "facts": [show_word(fact) for fact in hops.facts],
        "question": show_word(hops.question),
        "answer": show_word(hops.answer),
        "hops": [whole_steps(weights) for weights in hops.weights],
        "forgotten": [show_word(fact) for fact in hops.forgotten],
    }


def draw_hops(hops: Hops, path: Path) -> set[str]:
    """Draw the story, question, answer and weights of each hop; return the characters that no font here can draw."""
    check_suffix(path)
    question = f"{hops.question} {hops.answer}"
    forgotten = forgotten_in_words(hops)
    texts = [*hops.facts, question, *hops.hops]
    with canvas(texts) as new_figure:
        left = max(word_widths([*hops.facts, forgotten or " "], _SIZE)) + _GAP
        lines = len(hops.facts) + bool(forgotten)
        wide, high = left + _CELL * len(hops.hops), _LINE * (lines + 2.4)
        figure = new_figure(figsize=(1, 1))  # places are in inches; saving crops to the drawing
        axes = figure.add_axes((0, 0, wide, high))
        axes.set(xlim=(0, wide), ylim=(high, 0))
        axes.axis("off")
        for place, name in enumerate(hops.hops):
            _write(axes, left + (place + 0.5) * _CELL, _LINE / 2, name, SOFT, across="center")
        if forgotten:
            _write(axes, 0, 1.5 * _LINE, forgotten, SOFT)
        for fact, text in enumerate(hops.facts):
            top = _LINE * (fact + 1 + bool(forgotten))
            _write(axes, 0, top + _LINE / 2, text, INK)
            for place, weight in enumerate(hops.weights[:, fact]):
                _draw_cell(axes, (left + place * _CELL, top), float(weight), f"hop-{place + 1}-{fact + 1}")
        axes.plot([0, wide], [_LINE * (lines + 1.2)] * 2, color=FAINT, linewidth=0.8)
        _write(axes, 0, _LINE * (lines + 1.8), question, INK, weight="bold")
        save_figure(figure, path)
    return missing_glyphs(texts)


def _write(
    axes: "Axes", x: float, y: float, text: str, colour: str, across: str = "left", weight: str = "normal"
) -> None:
    axes.text(x, y, show_word(text), fontsize=_SIZE, color=colour, ha=across, va="center_baseline", weight=weight,
              parse_math=False)  # fmt: skip


def _draw_cell(axes: "Axes", corner: tuple[float, float], weight: float, name: str) -> None:
    """Draw a weight as a cell, darker for larger weights, with the number in it."""
    from matplotlib.patches import Rectangle

    share = min(max(weight, 0.0), 1.0)
    cell = Rectangle((corner[0] + 0.03, corner[1] + 0.03), _CELL - 0.06, _LINE - 0.06, facecolor=(*_TINT, share))
    cell.set_gid(name)  # its name in an SVG
    axes.add_patch(cell)
    ink = "white" if share > 0.55 else INK if share >= 0.05 else FAINT
    axes.text(
        corner[0] + _CELL / 2, corner[1] + _LINE / 2, percent(share), fontsize=_SIZE - 1.5, color=ink, ha="center",
        va="center_baseline", parse_math=False,
    )  # fmt: skip


def facts_lines(hops: Hops, width: int, colour: bool) -> list[str]:
    """Return the story and hops, at most `width` cells wide; with `colour`, each hop's largest weight stands out."""
    facts = [show_word(fact) for fact in hops.facts]
    room = max(8, width - _HOP * len(hops.hops) - 1)
    longest = min(room, max(map(cell_len, facts)))
    head = "".join(f"{fit_text(name, _HOP - 1):>{_HOP}}" for name in hops.hops)
    lines = [f"{'':{longest}} {head}"]
    if forgotten := forgotten_in_words(hops):
        lines.append(fit_text(f"({forgotten})", width))
    for place, fact in enumerate(facts):
        text = fit_text(fact, longest)
        cells = "".join(_cell(weights[place], weights.max() == weights[place], colour) for weights in hops.weights)
        lines.append(f"{text}{' ' * (longest - cell_len(text))} {cells}")
    return [*lines, fit_text(f"{show_word(hops.question)} {show_word(hops.answer)}", width)]


def _cell(weight: float, is_most: bool, colour: bool) -> str:
    text = f"{shade_of(weight)} {percent(max(weight, 0.0))}"
    padded = " " * max(0, _HOP - cell_len(text)) + text
    return f"{_BRIGHT}{padded}{_PLAIN}" if colour and is_most else padded


@dataclass(frozen=True)
class HopsDrawing:
    """Hops over a story as a drawing."""

    record: Hops

    view: ClassVar[str] = "facts"

    def draw(self, path: Path) -> set[str]:
        return draw_hops(self.record, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return facts_lines(self.record, width, colour)

    def numbers(self) -> dict[str, Any]:
        return to_json(self.record)

    def data(self) -> dict[str, Any]:
        return facts_data(self.record)

    def page(self) -> SealedPage:
        return SealedPage(SCRIPT, STYLES, self.data())


def from_looks(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Return the drawing of the hops over a story."""
    assert isinstance(looks.looks_from, Steps)
    assert isinstance(looks.looks_at, Facts)
    story, (block,) = looks.looks_at, looks.blocks
    weights = block.weights[0][:, : len(story.lines)]  # after the facts there may be empty slots
    names = list(looks.looks_from.names)
    return HopsDrawing(Hops(list(story.lines), story.question, looks.output, names, weights, list(story.forgotten)))
