"""Attention among the points of a drawing, drawn on its strokes."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_title, show_word
from regard.viewing.looks import LooksBetween, word_means
from regard.viewing.page import block_data
from regard.viewing.seen import Block, Joining, block_named, joined_weights
from regard.viewing.sides import Strokes
from regard.viewing.view import Drawing, DrawingRequest, HeadsDrawing
from regard.viewing.written import fit_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("page.css", "pictures.css", "strokes.css")
SCRIPT = "strokes-page.js"
_PANELS, _ACROSS = 12, 4  # points shown, and panels in a line
_SIDE = 2.1  # inches of a panel
_UNSEEN = "#d5d9df"
_HERE = "#c01c28"
_MOST = 3  # points named in a line


@dataclass(frozen=True)
class StrokeLooks:
    """Points (point, 2), to the right and down, whether a stroke ends at each, and blocks (head, point, point).

    A model that draws attends, from each point, to itself and to earlier points to find the next one. Nothing follows
    the last point, so there may be one more point than in the blocks. A model that reads the whole drawing attends to
    later points too.
    """

    title: str
    points: np.ndarray
    ends: np.ndarray
    blocks: list[Block]

    def __post_init__(self) -> None:
        for block in self.blocks:
            if block.weights.shape[1:] != (self.looking, self.looking) or self.looking > len(self.points):
                raise ValueError(f"weights of shape {block.weights.shape} do not fit {len(self.points)} points")

    @property
    def looking(self) -> int:
        """Number of points with attention, counted from the first."""
        return self.blocks[0].weights.shape[1]

    @property
    def looks_ahead(self) -> bool:
        """True if any point attends to a later one."""
        return any(np.triu(block.weights, 1).any() for block in self.blocks)

    def reach(self, place: int) -> int:
        """Return the number of the last point that a place may attend to."""
        return self.looking - 1 if self.looks_ahead else place

    def one(self, layer: int | None = None, head: int | None = None, heads: Joining = "mean") -> tuple[str, np.ndarray]:
        """Return a title and the weights (point, point) of one head, or of all heads joined."""
        return joined_weights(self.blocks, layer, head, heads)

    def strokes(self) -> list[np.ndarray]:
        """Return the numbers of the points of each stroke."""
        return [part for part in np.split(np.arange(len(self.points)), np.flatnonzero(self.ends) + 1) if len(part)]


def to_json(looks: StrokeLooks) -> dict[str, Any]:
    """Return the looks as plain values, with unrounded numbers."""
    return {
        "title": looks.title,
        "points": looks.points.tolist(),
        "ends": looks.ends.tolist(),
        "blocks": [block.to_json() for block in looks.blocks],
    }


def from_json(value: Mapping[str, Any]) -> StrokeLooks:
    """Return the looks that `to_json` was given."""
    blocks = [Block.from_json(block) for block in value["blocks"]]
    return StrokeLooks(value["title"], np.array(value["points"]), np.array(value["ends"]), blocks)


def stroke_data(
    looks: StrokeLooks, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> dict[str, Any]:
    """Return the data of the view: weights as whole ten-thousandths, point by point."""
    return {
        "start": {"layer": block_named(looks.blocks, layer, head), "head": head or heads},
        "title": show_word(looks.title),
        "points": np.round(looks.points, 2).tolist(),
        "looking": looks.looking,
        "ahead": looks.looks_ahead,
        "ends": looks.ends.astype(int).tolist(),
        "blocks": block_data(looks.blocks, "this drawing"),
    }


def draw_stroke_looks(
    looks: StrokeLooks, path: Path, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> set[str]:
    """Draw some points with their attention; return the characters that no font here can draw.

    The colour scale of each panel ends at its own largest weight, which is shown next to its number.
    """
    check_suffix(path)
    which, weights = looks.one(layer, head, heads)
    with canvas([looks.title]) as new_figure:
        last = looks.looking - 1
        shown = np.unique(np.linspace(min(1, last), last, _PANELS).round().astype(int))
        across = min(_ACROSS, len(shown))
        down = -(-len(shown) // across)
        figure = new_figure(figsize=(across * _SIDE, down * (_SIDE + 0.25) + 0.5), layout="constrained")
        for axes, place in zip(figure.subplots(down, across, squeeze=False).flat, shown.tolist(), strict=False):
            _draw_point(axes, looks, place, weights[place])
        for axes in figure.axes[len(shown) :]:
            axes.set_visible(False)
        title = show_title(looks.title, which)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK, parse_math=False)
        save_figure(figure, path)
    return missing_glyphs([looks.title])


def _draw_point(axes: "Axes", looks: StrokeLooks, place: int, weights: np.ndarray) -> None:
    """Draw the strokes up to a point, or all of them if the model looks ahead.

    Every segment is as dark as the weight of the point at its end. The first point of a stroke has no segment, and is a
    dot.
    """
    from matplotlib import colormaps

    reach = looks.reach(place)
    share = weights / (weights[: reach + 1].max() or 1.0)
    colours = colormaps["viridis_r"](0.1 + 0.9 * share)
    for stroke in looks.strokes():
        points = looks.points[stroke]
        axes.plot(*points.T, color=_UNSEEN, linewidth=1.2, zorder=1, solid_capstyle="round")
        if (first := stroke[0]) <= reach:
            axes.plot(*points[0], marker="o", color=colours[first], markersize=1.5 + 5 * share[first], zorder=3)
        for before, after in pairwise(stroke):
            if after <= reach:
                line, wide = looks.points[[before, after]].T, 1.2 + 2.6 * share[after]
                axes.plot(*line, color=colours[after], linewidth=wide, zorder=2, solid_capstyle="round")
    axes.plot(*looks.points[place], marker="o", color=_HERE, markersize=4.5, zorder=4)
    if place == reach and place + 1 < len(looks.points):
        axes.plot(*looks.points[place + 1], marker="o", mfc="none", color=_HERE, markersize=5.5, zorder=4)
    axes.set_title(f"{place + 1} ({weights.max():.2f})", fontsize=9.5, color=INK, pad=4)
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.margins(0.08)
    axes.invert_yaxis()
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)


def stroke_lines(
    looks: StrokeLooks, width: int, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> list[str]:
    """Return a line for every point: its stroke, and the points it attended to most."""
    which, weights = looks.one(layer, head, heads)
    title = show_title(looks.title, which)
    stroke_of = np.concatenate([[number] * len(stroke) for number, stroke in enumerate(looks.strokes(), start=1)])
    lines = [fit_text(title, width)]
    for place, point_weights in enumerate(weights):
        most = [int(point) for point in np.argsort(-point_weights[: looks.reach(place) + 1], kind="stable")[:_MOST]]
        names = (
            ", ".join(f"{point + 1} {point_weights[point]:.2f}" for point in most) if point_weights.any() else "nothing"
        )
        lines.append(fit_text(f"point {place + 1:>3}, stroke {stroke_of[place]}: looks at {names}", width))
    return lines


class StrokesDrawing(HeadsDrawing):
    """A drawing, and the attention of some of its points."""

    view = "strokes"
    script, styles = SCRIPT, STYLES
    picture, terminal = staticmethod(draw_stroke_looks), staticmethod(stroke_lines)
    to_json, to_data = staticmethod(to_json), staticmethod(stroke_data)


def from_looks(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Return the drawing of the attention of a drawing's points."""
    assert isinstance(looks.looks_at, Strokes)
    side = looks.looks_at
    means = word_means(side.places)
    blocks = [Block(block.where, means @ block.weights @ (means > 0).T.astype(float)) for block in looks.blocks]
    record = StrokeLooks(looks.title, side.points, side.ends, blocks)
    return StrokesDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")
