"""Training curves: a panel each for the loss, every metric and the learning rate, with separate scales.

In every panel, training is thin and blue, validation is thick and orange, and the best validation is marked.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.viewing.canvas import FAINT, INK, PALETTE, canvas, check_suffix, missing_glyphs, save_figure
from regard.viewing.curves import MANY, Points, dress_axes, finite_points, smooth

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOSS, RATE = "loss", "learning rate"
_STACKED = 3  # number of panels up to which all are stacked
_WIDE, _HIGH = 6.4, 1.9  # inches of a panel
_ORDERS = 30  # a measure whose largest value is this many times its smallest gets a logarithmic scale
_BLUE, _ORANGE = PALETTE[:2]
_MARKED = 60  # number of validations up to which each has a marker


@dataclass(frozen=True)
class Best:
    """The best validation: its measure, step and value."""

    measure: str
    step: int
    value: float


@dataclass(frozen=True)
class Course:
    """Points (step, value) of a training run by measure, and of the learning rate, if known."""

    training: dict[str, Points]
    validation: dict[str, Points]
    rates: Points = field(default_factory=list)
    best: Best | None = None


def draw_course(course: Course, path: Path, title: str) -> set[str]:
    """Draw the curves of a training run; return the characters that no font here can draw.

    The loss comes first and the learning rate last. Measures that never change are omitted if there are others, and so
    are values that are not finite.
    """
    check_suffix(path)
    panels = _panels(course)
    texts = [title, *panels]
    with canvas(texts) as new_figure:
        across = 1 if len(panels) <= _STACKED else 2
        down = math.ceil(len(panels) / across)
        figure = new_figure(figsize=(_WIDE * (1 if across == 1 else 1.6), 0.8 + _HIGH * down), layout="constrained")
        grid = figure.subplots(down, across, sharex=True, squeeze=False).flat
        for axes, (name, (training, validation)) in zip(grid, panels.items(), strict=False):
            _draw_panel(axes, name, training, validation)
            if course.best and course.best.measure == name:
                _mark_best(axes, course.best)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)
        for axes in grid[max(0, len(panels) - across) : len(panels)]:
            axes.set_xlabel("step", fontsize=9, color=INK)
            axes.tick_params(labelbottom=True)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK, parse_math=False)
        _explain(figure, course)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _panels(course: Course) -> dict[str, tuple[Points, Points]]:
    """Return the training and validation points of each panel."""
    names = dict.fromkeys([LOSS, *course.training, *course.validation])
    points = {
        name: (finite_points(course.training.get(name, [])), finite_points(course.validation.get(name, [])))
        for name in names
    } | {RATE: (finite_points(course.rates), [])}
    filled = {name: both for name, both in points.items() if any(both)}
    if not filled:
        raise ValueError("there is no point to draw")
    return {name: both for name, both in filled.items() if _changes(*both)} or filled


def _changes(training: Points, validation: Points) -> bool:
    """Return True if a panel has anything to show: a change, or a single value other than zero."""
    values = [value for _, value in (*training, *validation)]
    return len(set(values)) > 1 or (len(values) == 1 and values != [0.0])


def _draw_panel(axes: "Axes", name: str, training: Points, validation: Points) -> None:
    if name == RATE:
        axes.plot(*zip(*training, strict=True), color=INK, linewidth=1.0)
    elif training:
        steps, values = zip(*training, strict=True)
        if len(training) >= MANY:
            axes.plot(steps, values, color=_BLUE, alpha=0.2, linewidth=0.6)
            values = tuple(smooth(list(values)))
        axes.plot(steps, values, color=_BLUE, linewidth=1.0)
    if validation:
        marker: dict[str, Any] = {"marker": "o", "markersize": 3.5} if len(validation) <= _MARKED else {}
        axes.plot(*zip(*validation, strict=True), color=_ORANGE, linewidth=2.2, **marker)
    is_logarithmic = name not in (LOSS, RATE) and _spans_orders([*training, *validation])
    if is_logarithmic:
        axes.set_yscale("log")
    dress_axes(axes)
    heading = name.replace("_", " ") + (" (logarithmic)" if is_logarithmic else "")
    axes.set_title(heading, fontsize=9, color=INK, loc="left", pad=4, parse_math=False)


def _spans_orders(points: Sequence[tuple[int, float]]) -> bool:
    values = [value for _, value in points]
    return min(values) > 0 and max(values) > _ORDERS * min(values)


def _mark_best(axes: "Axes", best: Best) -> None:
    axes.plot([best.step], [best.value], marker="o", markersize=8, color=_ORANGE, markeredgecolor=INK, zorder=5)
    axes.axvline(best.step, color=FAINT, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    above: dict[str, Any] = {"xytext": (0, 9), "textcoords": "offset points", "ha": "center"}
    axes.annotate(f"{best.value:.4g}", (best.step, best.value), fontsize=8, color=INK, **above)
    axes.margins(y=0.14)


def _explain(figure: "Figure", course: Course) -> None:
    from matplotlib.lines import Line2D

    handles = []
    if any(course.training.values()):
        handles.append(Line2D([], [], color=_BLUE, linewidth=1.0, label="training"))
    if any(course.validation.values()):
        handles.append(Line2D([], [], color=_ORANGE, linewidth=2.2, label="validation"))
    if course.best:
        ring: dict[str, Any] = {"marker": "o", "markersize": 8, "markeredgecolor": INK, "linestyle": "none"}
        handles.append(Line2D([], [], color=_ORANGE, label=f"best {course.best.measure.replace('_', ' ')}", **ring))
    figure.legend(handles=handles, loc="upper right", ncols=3, frameon=False, fontsize=8, labelcolor=INK)
