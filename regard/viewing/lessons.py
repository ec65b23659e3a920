"""Lessons with curves: a few lines on a logarithmic axis, each named at its end, with a caption below."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTE = ("#c2452d", "#1f5fa8", "#3a8f5c", "#8a5aa8", "#b8902a", "#5b6770")
_WIDE, _ALONE, _HIGH = 4.3, 6.4, 3.5  # inches: width of a panel among others, of a single one, and height
_LINE = 0.062  # share of a panel's height that a name at the end of a line needs
_SHARP = 3  # powers of ten of a sharp turn
_LEAST = 1e-280  # smaller values are not drawn: the margin below them would underflow


@dataclass(frozen=True)
class Line:
    """Points (x, y) and a name to write at their end; lines of one `colour` belong together."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: int
    style: Literal["solid", "dashed", "dotted"] = "solid"


@dataclass(frozen=True)
class LessonPanel:
    """Lines on one pair of axes, with the labels `along` and `up`, and a caption that explains them."""

    title: str
    along: str
    up: str
    lines: list[Line]
    caption: str
    doubles: bool = False  # each x is twice the one before, so that the axis is logarithmic too

    @property
    def texts(self) -> list[str]:
        """The names written in the panel."""
        return [line.name for line in self.lines]

    def to_json(self) -> dict[str, Any]:
        """Return the panel as plain values."""
        return {
            "title": self.title,
            "along": self.along,
            "up": self.up,
            "lines": [{"name": line.name, "style": line.style, "points": [*line.points]} for line in self.lines],
            "caption": self.caption,
        }

    def draw_on(self, axes: "Axes") -> None:
        """Draw the lines on logarithmic axes."""
        _draw_panel(axes, self)


class Drawable(Protocol):
    """A panel of a lesson: LessonPanel, or one with axes of its own."""

    @property
    def title(self) -> str: ...
    @property
    def caption(self) -> str: ...
    @property
    def texts(self) -> list[str]: ...
    def to_json(self) -> dict[str, Any]: ...
    def draw_on(self, axes: "Axes") -> None: ...


@dataclass(frozen=True)
class Lesson:
    """Panels with lines, side by side."""

    title: str
    panels: list[LessonPanel]


@dataclass(frozen=True)
class MixedLesson:
    """Panels of several kinds, side by side."""

    title: str
    panels: Sequence[Drawable]


def lesson_to_json(lesson: Lesson | MixedLesson) -> dict[str, Any]:
    """Return the panels of a lesson as plain values."""
    return {"title": lesson.title, "panels": [panel.to_json() for panel in lesson.panels]}


def draw_lesson(lesson: Lesson | MixedLesson, path: Path) -> set[str]:
    """Draw a lesson; points without a place on a logarithmic axis, such as zero, are omitted."""
    check_suffix(path)
    texts = [lesson.title]
    texts += [text for panel in lesson.panels for text in (panel.title, panel.caption, *panel.texts)]
    with canvas(texts) as new_figure:
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        count = len(lesson.panels)
        wide = _WIDE if count > 1 else _ALONE
        figure = new_figure(figsize=(wide * count, _HIGH), layout=ConstrainedLayoutEngine(w_pad=0.12))
        grid = list(figure.subplots(1, count, squeeze=False).flat)
        for axes, panel in zip(grid, lesson.panels, strict=True):
            panel.draw_on(axes)
        head = "\n".join(textwrap.wrap(lesson.title, int(wide * count * 10)))
        figure.suptitle(head, fontsize=12.5, color=INK, x=0.012, ha="left", parse_math=False)
        # Captions are added after the layout, or the panels would shrink to make room for them.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for axes, panel in zip(grid, lesson.panels, strict=True):
            caption = "\n".join(textwrap.wrap(panel.caption, int(wide * 12.5)))
            style: dict[str, Any] = {"fontsize": 8.5, "color": INK, "va": "top", "linespacing": 1.45}
            axes.text(-0.02, -0.23, caption, transform=axes.transAxes, parse_math=False, **style)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_panel(axes: "Axes", panel: LessonPanel) -> None:
    for line in panel.lines:
        along, up = zip(*((x, y if _has_place(y) else nan) for x, y in line.points), strict=True)
        jagged = is_jagged(up)
        axes.plot(
            along,
            up,
            color=PALETTE[line.colour % len(PALETTE)],
            linewidth=0.6 if jagged else {"solid": 1.9, "dashed": 1.1, "dotted": 1.5}[line.style],
            linestyle={"solid": "-", "dashed": (0, (4, 2.5)), "dotted": (0, (1, 1.6))}[line.style],
            alpha=0.5 if jagged else 1.0,
            zorder=1.5 if jagged else 2.0,
        )
    axes.set_yscale("log")
    if panel.doubles:
        axes.set_xscale("log", base=2)
    axes.margins(x=0.0, y=0.05)
    _dress(axes, panel)
    _name_lines(axes, panel.lines)


def is_jagged(values: Sequence[float]) -> bool:
    """Return True if a line turns by several powers of ten at many points, and so fills an area and hides others."""
    steps = np.diff(np.log10(np.asarray(values, dtype=np.float64)))
    sharp = (steps[1:] * steps[:-1] < 0) & (np.minimum(np.abs(steps[1:]), np.abs(steps[:-1])) > _SHARP)
    return bool(len(sharp)) and float(sharp.mean()) > 0.1


def _has_place(value: float) -> bool:
    return _LEAST < value < inf


def _dress(axes: "Axes", panel: LessonPanel) -> None:
    from matplotlib.ticker import MaxNLocator, NullLocator

    dress_axes(axes, panel.title, panel.along, panel.up)
    if panel.doubles:
        ticks = [x for x, _ in panel.lines[0].points]
        axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        axes.axhline(1.0, color=FAINT, linewidth=0.8, zorder=0)
    _set_ticks(axes)
    axes.grid(axis="y", color="#ececec", linewidth=0.8)


def dress_axes(axes: "Axes", title: str, along: str, up: str) -> None:
    """Write the title and the labels of a panel, and leave only the axes at the left and below."""
    axes.set_title(title, fontsize=10, color=INK, loc="left", pad=8, parse_math=False)
    axes.set_xlabel(along, fontsize=9, color=INK)
    axes.set_ylabel(up, fontsize=9, color=INK)
    axes.tick_params(length=3, width=0.6, color=FAINT, labelsize=8, labelcolor=INK)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set(color=FAINT, linewidth=0.8, visible=side in ("left", "bottom"))


def _set_ticks(axes: "Axes") -> None:
    """Set ticks at powers of ten, or at plain numbers if the axis is too short for two of them."""
    from matplotlib.ticker import MaxNLocator, NullLocator

    low, high = axes.get_ylim()
    ticks = [10.0**power for power in _powers(*np.log10([low, high]))]
    if len(ticks) > 1:
        axes.set_yticks(ticks)
    else:
        candidates = MaxNLocator(nbins=5, steps=[1, 2, 5, 10]).tick_values(low, high)
        plain = [tick for tick in candidates if low <= tick <= high]
        axes.set_yticks(plain, [f"{tick:g}" for tick in plain])
    axes.yaxis.set_minor_locator(NullLocator())


def _powers(lowest: float, highest: float) -> range:
    """Return at most eight evenly spaced powers of ten between these two, aligned with the zeroth."""
    apart = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200) if (highest - lowest) / step < 8 or step == 200)
    return range(ceil(lowest / apart) * apart, floor(highest / apart) * apart + 1, apart)


def _name_lines(axes: "Axes", lines: list[Line]) -> None:
    """Write the names at the right, each as near to the end of its line as the others allow."""
    named = [line for line in lines if line.name and _has_place(line.points[-1][1])]
    if not named:
        return
    low, high = np.log10(axes.get_ylim())
    ends = [float((np.log10(line.points[-1][1]) - low) / (high - low)) for line in named]
    for line, end, place in zip(named, ends, spread(ends, _LINE), strict=True):
        colour = PALETTE[line.colour % len(PALETTE)]
        axes.annotate(
            line.name,
            xy=(1.0, end),
            xytext=(1.05, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            fontsize=8.5,
            color=colour,
            va="center",
            parse_math=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 1},
        )


def spread(places: list[float], gap: float) -> list[float]:
    """Return the places moved as little as possible so that any two are `gap` apart, in the same order.

    Places that are too close form a group, which spreads around the mean of its members' original places.
    """
    order = sorted(range(len(places)), key=places.__getitem__)
    groups: list[list[float]] = []
    for number in order:
        groups.append([places[number]])
        while len(groups) > 1 and _reach(groups[-2], gap)[1] + gap > _reach(groups[-1], gap)[0]:
            groups[-2:] = [groups[-2] + groups[-1]]
    moved = [_reach(group, gap)[0] + gap * nth for group in groups for nth in range(len(group))]
    return [place for _, place in sorted(zip(order, moved, strict=True))]


def _reach(group: list[float], gap: float) -> tuple[float, float]:
    middle, half = sum(group) / len(group), gap * (len(group) - 1) / 2
    return middle - half, middle + half
