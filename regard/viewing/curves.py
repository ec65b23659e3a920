"""Curves of several training runs in one picture: losses and other measures, a panel for each scale."""

import math
from itertools import accumulate, cycle
from pathlib import Path
from typing import TYPE_CHECKING

from regard.viewing.canvas import FAINT, INK, PALETTE, canvas, check_suffix, missing_glyphs, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = list[tuple[int, float]]

_FAR_APART = 10  # a measure this many times larger than another needs its own axis
MANY = 30  # number of points from which a curve is smoothed
_FEW = 3  # number of series in a panel up to which their noise is drawn, with lines of different widths


def draw_curves(series: dict[str, Points], path: Path, title: str) -> set[str]:
    """Draw series of (step, value): losses in one panel, other measures below it, a panel for each scale.

    A series is a loss if its name contains the word loss. A series that is always zero is omitted if there are others.
    A long series is smoothed; if there are few, the original is drawn faintly too. Values that are not finite are
    omitted. Return the characters that no font here can draw.
    """
    check_suffix(path)
    finite = {name: filtered for name, points in series.items() if (filtered := finite_points(points))}
    shown = {name: points for name, points in finite.items() if any(value for _, value in points)} or finite
    if not shown:
        raise ValueError("there is no point to draw")
    losses = {name: points for name, points in shown.items() if "loss" in name.lower().split()}
    measures = {name: points for name, points in shown.items() if name not in losses}
    panels = [losses] * bool(losses) + _by_scale(measures)
    texts = [title, *series]
    with canvas(texts) as new_figure:
        width = 6.4 if max(map(len, panels)) <= _FEW else 8.8  # wider, for the names of many next to them
        figure = new_figure(figsize=(width, 0.6 + 2.3 * len(panels)), layout="constrained")
        grid = figure.subplots(len(panels), 1, sharex=True, squeeze=False)
        colours = cycle(PALETTE)
        for axes, panel in zip(grid.flat, panels, strict=True):
            few = len(panel) <= _FEW
            for after, (name, points) in zip(reversed(range(len(panel))), panel.items(), strict=True):
                # Each line is a little wider than the next, so that it stays visible where the next one covers it.
                _draw_series(axes, name, points, next(colours), 1.4 * (1 + 0.8 * after * few), few)
            dress_axes(axes)
            _name_series(axes, "loss" if panel is losses else "measure")
        grid.flat[0].set_title(title, fontsize=11, color=INK, pad=8, loc="left", parse_math=False)
        grid.flat[-1].set_xlabel("step", fontsize=9, color=INK)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _by_scale(measures: dict[str, Points]) -> list[dict[str, Points]]:
    """Group measures that can share an axis: a share of one would vanish next to a score out of a hundred."""
    peaks = {name: max(abs(value) for _, value in points) for name, points in measures.items()}
    panels: list[dict[str, Points]] = []
    highest = math.inf
    for name in sorted(peaks, key=peaks.__getitem__, reverse=True):
        if peaks[name] * _FAR_APART < highest:
            panels.append({})
            highest = peaks[name]
        panels[-1][name] = measures[name]
    return panels


def finite_points(points: Points) -> Points:
    """Return the points with finite values."""
    return [(step, value) for step, value in points if math.isfinite(value)]


def dress_axes(axes: "Axes") -> None:
    """Set whole-number steps, a light grid and a minimal frame."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda step, _: f"{step:,.0f}"))
    axes.tick_params(length=3, width=0.6, color=FAINT, labelsize=8, labelcolor=INK)
    axes.grid(axis="y", color="#ececec", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0.02)
    for side, spine in axes.spines.items():
        spine.set(color=FAINT, linewidth=0.8, visible=side in ("left", "bottom"))


def _name_series(axes: "Axes", what: str) -> None:
    axes.set_ylabel(what, fontsize=9, color=INK)
    legend = axes.legend(frameon=False, fontsize=8, labelcolor=INK)
    if len(legend.get_texts()) > _FEW:
        legend.set_loc("upper left")
        legend.set_bbox_to_anchor((1, 1), axes.transAxes)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _draw_series(axes: "Axes", name: str, points: Points, colour: str, width: float, noise: bool) -> None:
    steps, values = zip(*points, strict=True)
    if len(points) >= MANY:
        if noise:
            axes.plot(steps, values, color=colour, alpha=0.22, linewidth=0.8)
        axes.plot(steps, smooth(list(values)), color=colour, linewidth=width, label=name)
    else:
        axes.plot(steps, values, color=colour, linewidth=width, marker="o", markersize=3, label=name)


def smooth(values: list[float]) -> list[float]:
    """Return the mean over each value's neighbourhood, about a thirtieth of the whole.

    The neighbourhood is symmetric, so that the line does not lag where the loss falls fast; only at the end, where the
    curve is flat, does it reach less far ahead than back.
    """
    sums = [0.0, *accumulate(values)]
    reach = len(values) // (2 * MANY)
    means = []
    for place in range(len(values)):
        near = min(reach, place)
        start, end = place - near, min(place + near + 1, len(values))
        means.append((sums[end] - sums[start]) / (end - start))
    return means
