"""Pictures of a comparison: a point for every run, each variant's mean and spread, and lines by source length."""

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from regard.base.figures import in_figures
from regard.viewing.canvas import FAINT, INK, PALETTE, canvas, check_suffix, missing_glyphs, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_GRID, _GREY = "#ececec", "#777777"
_CAPTION = "point: a run · bar: the mean of a variant's runs · line: from the smallest to the largest"


def draw_comparison(
    variants: Sequence[str], measures: Mapping[str, Sequence[Sequence[float]]], path: Path, title: str
) -> set[str]:
    """Draw the values of each variant's runs, a panel per measure; return the characters that no font here can draw.

    `measures` has the values of the runs for each measure and variant. Points are runs, the bar is their mean, and the
    line goes from the smallest to the largest.
    """
    check_suffix(path)
    texts = [title, *variants, *measures]
    with canvas(texts) as new_figure:
        from matplotlib.ticker import MaxNLocator

        figure = new_figure(figsize=(1.8 + 3.0 * len(measures), 1.3 + 0.4 * len(variants)), layout="constrained")
        panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
        for axes, (measure, values_by_variant) in zip(panels, measures.items(), strict=True):
            for place, values in enumerate(values_by_variant):
                _draw_runs(axes, place, values, PALETTE[place % len(PALETTE)])
            _dress(axes, "x")
            axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
            axes.set_xlabel(measure, fontsize=9, color=INK, parse_math=False)
            axes.margins(x=0.15)
        panels[0].set_yticks(range(len(variants)), variants, fontsize=9, color=INK, parse_math=False)
        panels[0].set_ylim(len(variants) - 0.4, -0.6)  # the first on top
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK, parse_math=False)
        if any(len(values) > 1 for values_by_variant in measures.values() for values in values_by_variant):
            figure.supxlabel(_CAPTION, x=0.01, ha="left", fontsize=7, color=_GREY)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_runs(axes: "Axes", place: int, values: Sequence[float], colour: str) -> None:
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return
    mean = sum(finite) / len(finite)
    if len(finite) > 1:
        axes.plot([min(finite), max(finite)], [place, place], color=colour, linewidth=2, alpha=0.4)
        axes.plot([mean], [place], "|", color=colour, markersize=13, markeredgewidth=2.5)
    axes.plot(finite, [place] * len(finite), "o", color=colour, markersize=5, markeredgecolor="white")
    axes.annotate(
        in_figures(mean, 2), (mean, place), (0, 8), textcoords="offset points", ha="center", fontsize=7.5, color=INK
    )


def draw_by_length(
    buckets: Sequence[tuple[str, int]],
    variants: Sequence[str],
    measures: Mapping[str, Sequence[Sequence[Sequence[float]]]],
    path: Path,
    title: str,
) -> set[str]:
    """Draw each variant's measure over buckets of source lengths, with a band from its lowest to its highest run.

    A bucket is a label and a number of sentences; `measures` has the values of the runs for each measure, variant and
    bucket. Return the characters that no font here can draw.
    """
    check_suffix(path)
    texts = [title, *variants, *measures]
    with canvas(texts) as new_figure:
        figure = new_figure(figsize=(6.4, 0.9 + 2.7 * len(measures)), layout="constrained")
        panels = figure.subplots(len(measures), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (measure, values_by_variant) in zip(panels, measures.items(), strict=True):
            for variant, values, colour, marker in zip(variants, values_by_variant, cycle(PALETTE), cycle(_MARKERS)):
                _draw_line(axes, variant, values, colour, marker)
            _dress(axes, "y")
            axes.set_ylabel(measure, fontsize=9, color=INK, parse_math=False)
        ticks = [f"{label}\nn = {count:,}" for label, count in buckets]
        panels[-1].set_xticks(range(len(buckets)), ticks, fontsize=8, color=INK)
        panels[-1].set_xlabel("source words; n is the number of sentences", fontsize=9, color=INK)
        panels[0].set_title(title, fontsize=11, color=INK, pad=8, loc="left", parse_math=False)
        legend = panels[0].legend(frameon=False, fontsize=8, labelcolor=INK)
        for text in legend.get_texts():
            text.set_parse_math(False)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_line(axes: "Axes", name: str, values: Sequence[Sequence[float]], colour: str, marker: str) -> None:
    places = range(len(values))
    lows, highs = [min(runs) for runs in values], [max(runs) for runs in values]
    means = [sum(runs) / len(runs) for runs in values]
    axes.fill_between(places, lows, highs, color=colour, alpha=0.15, linewidth=0)
    axes.plot(places, means, color=colour, linewidth=1.6, marker=marker, markersize=4.5, label=name)


def _dress(axes: "Axes", along: str) -> None:
    axes.tick_params(length=3, width=0.6, color=FAINT, labelsize=8, labelcolor=INK)
    axes.grid(axis="x" if along == "x" else "y", color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set(color=FAINT, linewidth=0.8, visible=side in ("left", "bottom"))
