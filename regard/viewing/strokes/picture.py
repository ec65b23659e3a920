"""What points of a drawing looked at, as a sheet: the drawing so far, coloured where a point looked."""

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_title
from regard.viewing.seen import Joining
from regard.viewing.strokes.record import StrokeLooks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS, _ACROSS = 12, 4  # points that are shown, and panels in a line
_SIDE = 2.1  # inches of a panel
_UNSEEN = "#d5d9df"
_HERE = "#c01c28"


def draw_stroke_looks(
    looks: StrokeLooks, path: Path, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> set[str]:
    """Draw some points from the first to the last, each with what it looked at; gives what no font here can draw.

    The colour of each panel goes up to its own largest weight, which stands beside its number.
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
    """The drawing up to a point, or all of it where the model looks ahead, every piece of a line as dark as the point
    at its end was looked at.

    The first point of a stroke has no piece that leads to it, and is a dot.
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
