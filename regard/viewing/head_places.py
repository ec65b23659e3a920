"""Where heads look that attend by position alone: a disc for each, around the querying cell."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import FAINT, INK, PALETTE, canvas, check_suffix, missing_glyphs, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANEL = 3.1  # inches a side
_ACROSS = 4  # panels in a line
_LEAST = 0.12  # radius of a disc in cells, so that the sharpest head stays visible


@dataclass(frozen=True)
class HeadPlaces:
    """The centres (head, 2) of some heads, down and across from the querying cell, and their spreads (head).

    The weights of a head are a Gaussian around its centre; the spread is its standard deviation in cells.
    """

    title: str
    centres: np.ndarray
    spreads: np.ndarray


@dataclass(frozen=True)
class ConvolutionLesson:
    """Heads that form a K × K convolution, other heads, and the distance from a convolution by sharpness."""

    kernel: int
    heads: Sequence[HeadPlaces]
    differences: Sequence[tuple[float, float]]

    @property
    def caption(self) -> str:
        """The caption of the picture."""
        sharpness, difference = self.differences[-1]
        count = self.kernel**2
        return (
            f"Each disc is a head: where it looks from the cell in the middle, and how widely. With a sharpness α"
            f" of {sharpness:g} the {count} heads differ from the convolution by at most {difference:.0e}, in float64."
        )


def lesson_to_json(lesson: ConvolutionLesson) -> dict[str, Any]:
    """Return the lesson as plain values."""
    return {
        "kernel": lesson.kernel,
        "heads": [
            {"title": group.title, "centres": group.centres.tolist(), "spreads": group.spreads.tolist()}
            for group in lesson.heads
        ],
        "differences": [{"sharpness": sharpness, "largest": largest} for sharpness, largest in lesson.differences],
        "caption": lesson.caption,
    }


def draw_head_places(lesson: ConvolutionLesson, path: Path) -> set[str]:
    """Draw the heads, a panel for each group on one scale, with the caption below."""
    check_suffix(path)
    texts = [*(group.title for group in lesson.heads), lesson.caption]
    reach = max(
        float(np.ceil(max(2.0, *(np.abs(group.centres).max() for group in lesson.heads)))), lesson.kernel // 2 + 1
    )
    with canvas(texts) as new_figure:
        across = min(_ACROSS, len(lesson.heads))
        down = -(-len(lesson.heads) // across)
        wide = max(across * _PANEL, 5.0)
        figure = new_figure(figsize=(wide, down * (_PANEL + 0.3) + 0.7), layout="constrained")
        panels = list(figure.subplots(down, across, squeeze=False).flat)
        for axes in panels[len(lesson.heads) :]:
            axes.set_visible(False)
        for axes, heads in zip(panels, lesson.heads, strict=False):
            _draw_heads(axes, heads, reach)
        caption = "\n".join(textwrap.wrap(lesson.caption, int(wide * 13)))
        figure.supxlabel(caption, fontsize=9, color=INK, x=0.01, ha="left", parse_math=False)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_heads(axes: "Axes", heads: HeadPlaces, reach: float) -> None:
    from matplotlib.patches import Circle, Rectangle

    edge = reach + 0.5
    lines = np.arange(-edge, edge + 1)
    axes.hlines(lines, -edge, edge, color="#e6e6e6", linewidth=0.6, zorder=0)
    axes.vlines(lines, -edge, edge, color="#e6e6e6", linewidth=0.6, zorder=0)
    axes.add_patch(Rectangle((-0.5, -0.5), 1, 1, facecolor="none", edgecolor=INK, linewidth=1.2, zorder=3))
    for number, ((down, across), spread) in enumerate(zip(heads.centres, heads.spreads, strict=True)):
        colour = PALETTE[number % len(PALETTE)]
        axes.add_patch(Circle((across, down), max(_LEAST, float(spread)), color=colour, alpha=0.3, linewidth=0))
        axes.plot([across], [down], marker="o", markersize=3.5, color=colour)
    axes.set(xlim=(-edge, edge), ylim=(edge, -edge), xticks=[], yticks=[], aspect="equal")
    axes.set_title(heads.title, fontsize=10, color=INK, parse_math=False)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)
