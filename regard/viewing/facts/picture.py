"""Hops through a story as a picture: the facts in lines, and beside each how much every hop looks at it."""

from pathlib import Path
from typing import TYPE_CHECKING

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
from regard.viewing.facts.record import Hops, forgotten_in_words
from regard.viewing.written import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = 10.0  # points of the text
_LINE, _CELL = 0.3, 0.72  # inches of a line, and of a hop's column
_GAP = 0.25  # between the facts and the hops
_TINT = (0.12, 0.37, 0.66)


def draw_hops(hops: Hops, path: Path) -> set[str]:
    """Draw the story, its question and answer, and the weights of each hop; gives what no font here can draw."""
    check_suffix(path)
    question = f"{hops.question} {hops.answer}"
    forgotten = forgotten_in_words(hops)
    texts = [*hops.facts, question, *hops.hops]
    with canvas(texts) as new_figure:
        left = max(word_widths([*hops.facts, forgotten or " "], _SIZE)) + _GAP
        lines = len(hops.facts) + bool(forgotten)
        wide, high = left + _CELL * len(hops.hops), _LINE * (lines + 2.4)
        figure = new_figure(figsize=(1, 1))  # places are in inches; what is saved is cut to what is drawn
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
    """One weight: a cell that is the darker the larger it is, and the number in it."""
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
