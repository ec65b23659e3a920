"""The gates of a recurrent cell over a sentence: means over units as lines, single units as heat maps."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.faults import Fault
from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_word
from regard.viewing.sealed import SealedPage
from regard.viewing.written import table_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Titles of the heat maps, and colours of the means; gates are numbers between 0 and 1.
GATES = {
    "forget": ("forget gate: what is kept", "#1f5fa8"),
    "input": ("input gate: what is let in", "#d1622b"),
    "output": ("output gate: what is shown", "#3a8f5c"),
    "update": ("update gate: what is kept", "#1f5fa8"),
    "reset": ("reset gate: what the candidate sees", "#d1622b"),
}
_ANSWERS = (INK, "#a0558f", "#8a8f45")  # colours of the most likely answers
MEMORIES = {"cell": "memory cell", "state": "state"}  # of either sign
FADED = "#777777"
_TALL = 1.25  # inches of a heat map
_CAPTION = "Lines are means over all units. In the heat maps a row is a unit; units that keep most are at the top."


@dataclass(frozen=True)
class Gates:
    """Traces by name, each (word, unit), the keeping gate first; `order` gives the number of each unit.

    `answers` has, for a model that answers, the probability of each answer if the text ended at each word.
    """

    title: str
    words: list[str]
    traces: dict[str, np.ndarray]
    order: np.ndarray
    answers: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def means(self) -> dict[str, np.ndarray]:
        """The mean over the units at each word; for a memory, whose signs would cancel, the mean absolute value."""
        return {name: np.abs(trace).mean(axis=1) for name, trace in self.traces.items()}


@dataclass(frozen=True)
class DrawnGates:
    """Gates as a drawing; there is no page for them yet."""

    gates: Gates

    def draw(self, path: Path) -> set[str]:
        return draw_gates(self.gates, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return [self.gates.title, *table_lines(*gates_table(self.gates))]

    def numbers(self) -> dict[str, Any]:
        return gates_to_json(self.gates)

    def page(self) -> SealedPage:
        raise Fault("This model has no attention, and there is no page for its gates; name a .png, .svg or .json file.")


def gates_table(gates: Gates, heading: str = "word") -> tuple[list[str], list[list[str]]]:
    """Return column names and a row for each word: the means of the gates, and the probabilities of the answers."""
    columns = gates.means | {show_word(name): course for name, course in gates.answers.items()}
    cells = [[f"{value:.2f}" for value in course] for course in columns.values()]
    return [heading, *columns], [list(row) for row in zip(map(show_word, gates.words), *cells, strict=True)]


def gates_to_json(gates: Gates) -> dict[str, Any]:
    """Return the gates as plain values."""
    return {
        "title": gates.title,
        "words": gates.words,
        "units": gates.order.tolist(),
        "means": {name: mean.tolist() for name, mean in gates.means.items()},
        "traces": {name: trace.tolist() for name, trace in gates.traces.items()},
        "answers": {name: course.tolist() for name, course in gates.answers.items()},
    }


def draw_gates(gates: Gates, path: Path) -> set[str]:
    """Draw the means on top and a heat map of each trace below, words from left to right."""
    check_suffix(path)
    texts = [gates.title, *gates.words, *gates.answers]
    with canvas(texts) as new_figure:
        figure, grid = _sheet(gates, new_figure)
        *courses, means = grid[: len(grid) - len(gates.traces)]
        for axes in courses:
            _draw_course(axes, gates)
        _draw_means(means, gates)
        for axes, (name, trace) in zip(grid[-len(gates.traces) :], gates.traces.items(), strict=True):
            _draw_trace(figure, axes, name, trace)
        _write_words(grid[-1], gates.words, _wide(gates) / len(gates.words))
        grid[0].set_title(gates.title, fontsize=11, color=INK, loc="left", pad=10, parse_math=False)
        grid[-1].set_xlabel(_CAPTION, fontsize=8.5, color=FADED, loc="left", labelpad=8)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _wide(gates: Gates) -> float:
    """Return the width of the heat maps in inches."""
    return min(max(0.62 * len(gates.words), 6.2), 14.0)


def _sheet(gates: Gates, new_figure: "type[Figure]") -> "tuple[Figure, list[Axes]]":
    heights = [*[1.5] * (1 + bool(gates.answers)), *[_TALL] * len(gates.traces)]
    figure = new_figure(
        figsize=(_wide(gates) + 1.0, sum(heights) + 0.2 * len(gates.traces) + 0.9), layout="constrained"
    )
    grid = figure.subplots(len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights})
    return figure, list(grid)


def _draw_course(axes: "Axes", gates: Gates) -> None:
    """Draw the most likely final answers, each with its probability at every word."""
    likeliest = sorted(gates.answers, key=lambda name: -gates.answers[name][-1])[: len(_ANSWERS)]
    lines = {name: (gates.answers[name], colour) for name, colour in zip(likeliest, _ANSWERS, strict=False)}
    _draw_lines(axes, lines, "answer so far")


def _draw_means(axes: "Axes", gates: Gates) -> None:
    means = {name: (mean, GATES[name][1]) for name, mean in gates.means.items() if name in GATES}
    _draw_lines(axes, means, "mean of the units")


def _draw_lines(axes: "Axes", lines: dict[str, tuple[np.ndarray, str]], up: str) -> None:
    """Draw curves between 0 and 1, each with its name and colour."""
    for name, (course, colour) in lines.items():
        places = np.arange(len(course)) + 0.5
        axes.plot(places, course, color=colour, linewidth=1.6, marker="o", markersize=3.5, label=show_word(name))
    axes.set_ylim(-0.04, 1.04)
    axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_ylabel(up, fontsize=8.5, color=INK)
    axes.grid(axis="y", color="#ececec", linewidth=0.8)
    axes.tick_params(length=3, width=0.6, color=FAINT, labelsize=8, labelcolor=INK)
    axes.tick_params(axis="x", length=0)
    for side, spine in axes.spines.items():
        spine.set(color=FAINT, linewidth=0.8, visible=side in ("left", "bottom"))
    place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.01, 0.98), "ncols": 3}
    axes.legend(frameon=False, fontsize=9, labelcolor="linecolor", handlelength=1.3, columnspacing=1.3, **place)


def _draw_trace(figure: "Figure", axes: "Axes", name: str, trace: np.ndarray) -> None:
    """Draw the units of a trace from top to bottom; gates go from white to blue, memories from blue to red."""
    if name in GATES:
        title, colours, lowest, highest = GATES[name][0], "Blues", 0.0, 1.0
    else:
        highest = float(np.quantile(np.abs(trace), 0.98)) or 1.0
        title, colours, lowest = MEMORIES[name], "RdBu_r", -highest
    mesh = axes.pcolormesh(
        np.arange(trace.shape[0] + 1),
        np.arange(trace.shape[1] + 1),
        trace.T,
        cmap=colours,
        vmin=lowest,
        vmax=highest,
        rasterized=True,
    )
    axes.invert_yaxis()
    axes.set_yticks([])
    axes.set_ylabel(f"{trace.shape[1]} units", fontsize=8, color=INK)
    axes.set_title(title, fontsize=9, color=INK, loc="left", pad=4)
    axes.tick_params(axis="x", length=0)
    bar = figure.colorbar(mesh, ax=axes, fraction=0.03, aspect=10, pad=0.012)
    if name in GATES:
        bar.set_ticks([0, 0.5, 1], labels=["0", "0.5", "1"])
    bar.ax.tick_params(length=2, width=0.6, color=FAINT, labelsize=7.5, labelcolor=INK)
    for spine in (*axes.spines.values(), bar.outline):
        spine.set(edgecolor=FAINT, linewidth=0.7)


def _write_words(axes: "Axes", words: list[str], room: float) -> None:
    """Write the words below the last heat map: level if the longest fits, slanted otherwise."""
    size = float(np.interp(room, [0.2, 0.5], [6.5, 9.5]))
    level = max(map(len, words)) * size * 0.0092 < room
    slant: dict[str, Any] = {} if level else {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(np.arange(len(words)) + 0.5, [show_word(word) for word in words], **slant)
    for label in axes.get_xticklabels():
        label.set(fontsize=size, color=INK, parse_math=False)
