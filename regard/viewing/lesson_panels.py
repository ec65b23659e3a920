"""Panels of lessons with linear axes: the map of one unit onto itself, and eigenvalues in the complex plane."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import FAINT, INK
from regard.viewing.lessons import PALETTE, dress_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class FixedPoint:
    """A state that a unit maps onto itself, and the slope of the map there; below 1 in size it is stable."""

    state: float
    slope: float

    @property
    def is_stable(self) -> bool:
        return abs(self.slope) < 1


@dataclass(frozen=True)
class UnitMap:
    """The map h → tanh(w h) of one unit, with its fixed points."""

    weight: float
    points: Sequence[FixedPoint]


@dataclass(frozen=True)
class BitPanel:
    """Maps of single units over the diagonal: full dots are stable states, hollow ones are not."""

    title: str
    maps: Sequence[UnitMap]
    caption: str

    @property
    def texts(self) -> list[str]:
        return [f"w = {unit.weight:g}" for unit in self.maps]

    def to_json(self) -> dict[str, Any]:
        """Return the panel as plain values."""
        units = [
            {"weight": unit.weight, "fixed_points": [{**vars(p), "stable": p.is_stable} for p in unit.points]}
            for unit in self.maps
        ]
        return {"title": self.title, "units": units, "caption": self.caption}

    def draw_on(self, axes: "Axes") -> None:
        """Draw each map, the diagonal, and the fixed points where they meet."""
        states = np.linspace(-1.2, 1.2, 201)
        axes.plot([-1.2, 1.2], [-1.2, 1.2], color=FAINT, linewidth=1.0, zorder=1)
        for place, (unit, name) in enumerate(zip(self.maps, self.texts, strict=True)):
            colour, ends = PALETTE[place % len(PALETTE)], np.tanh(unit.weight * states)
            axes.plot(states, ends, color=colour, linewidth=1.7)
            axes.annotate(
                name, (1.2, ends[-1]), xytext=(5, 0), textcoords="offset points", fontsize=8.5, color=colour,
                va="center", annotation_clip=False,
            )  # fmt: skip
            for point in unit.points:
                face = colour if point.is_stable else "white"
                axes.plot(point.state, point.state, "o", color=colour, markerfacecolor=face, markersize=6, zorder=3)
        axes.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2))
        dress_axes(axes, self.title, "h before", "h after")


@dataclass(frozen=True)
class PlanePanel:
    """Eigenvalues as dots in the complex plane, around the unit circle."""

    title: str
    eigenvalues: np.ndarray
    caption: str
    colour: int = 1

    @property
    def texts(self) -> list[str]:
        return []

    def to_json(self) -> dict[str, Any]:
        """Return the panel as plain values, each eigenvalue as its real and imaginary part."""
        pairs = [[float(value.real), float(value.imag)] for value in self.eigenvalues.ravel()]
        return {"title": self.title, "eigenvalues": pairs, "caption": self.caption}

    def draw_on(self, axes: "Axes") -> None:
        """Draw the dots and the circle at the same scale in both directions."""
        from matplotlib.patches import Circle

        values = self.eigenvalues.ravel()
        reach = 1.15 * max(1.0, float(np.abs(values).max(initial=0.0)))
        axes.add_patch(Circle((0, 0), 1.0, fill=False, edgecolor=INK, linewidth=0.9))
        for draw_line in (axes.axhline, axes.axvline):
            draw_line(0.0, color=FAINT, linewidth=0.6, zorder=0)
        faint = 0.75 if len(values) < 200 else 0.35
        axes.scatter(
            values.real, values.imag, s=9, color=PALETTE[self.colour % len(PALETTE)], alpha=faint, linewidths=0
        )
        axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
        axes.set_aspect("equal")
        dress_axes(axes, self.title, "real part", "imaginary part")
