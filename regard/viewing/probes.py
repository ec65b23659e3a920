"""Scores of probes by layer: a table, curves, and a page with both."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.viewing.canvas import FAINT, INK, PALETTE, SOFT, canvas, check_suffix, missing_glyphs, save_figure
from regard.viewing.lesson_page import LessonTable, lesson_page
from regard.viewing.sealed import SealedPage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = ["label", "layer", "accuracy", "control", "selectivity", "majority"]
CAPTION = (
    "Accuracy of linear classifiers on the states of each layer, in percent, on sentences that they did not learn "
    "from; mean and standard deviation over seeds. In the control task every type of word has a random label, and "
    "selectivity is accuracy less control. Layer 0 is the embeddings."
)
_ACROSS = 3  # panels in a row
_PANEL = (3.1, 2.3)  # inches


@dataclass(frozen=True)
class ProbeScore:
    """Scores of probes for one kind of label in one layer, a value for each seed, between 0 and 1.

    `classes` holds the accuracy for each class over all seeds; for links, that for each kind of link.
    """

    what: str
    layer: int
    accuracy: Sequence[float]
    control: Sequence[float]
    majority: Sequence[float]
    classes: Mapping[str, float]

    @property
    def selectivity(self) -> list[float]:
        """Accuracy less that of the control task: what is read off the states, rather than learnt by heart."""
        return [real - random for real, random in zip(self.accuracy, self.control, strict=True)]


@dataclass(frozen=True)
class Probes:
    """All scores of a model, and the sentences and words that they come from."""

    title: str
    side: str
    sentences: int
    words: int
    seeds: int
    scores: Sequence[ProbeScore]

    @property
    def whats(self) -> list[str]:
        return list(dict.fromkeys(score.what for score in self.scores))

    def of(self, what: str) -> list[ProbeScore]:
        """Return the scores of one kind of label, layer by layer."""
        return [score for score in self.scores if score.what == what]


def mean_and_spread(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and the standard deviation; a single value has none."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None


def _shown(values: Sequence[float]) -> str:
    mean, spread = mean_and_spread([100 * value for value in values])
    return f"{mean:.1f}" if spread is None else f"{mean:.1f} ± {spread:.1f}"


def probes_rows(probes: Probes) -> list[list[str]]:
    """Return a row for each label and layer, under `COLUMNS`."""
    return [
        [
            score.what,
            str(score.layer),
            *(_shown(values) for values in (score.accuracy, score.control, score.selectivity, score.majority)),
        ]
        for score in probes.scores
    ]


def probes_to_json(probes: Probes) -> dict[str, Any]:
    """Return the scores as plain values between 0 and 1."""
    return {
        "model": probes.title,
        "side": probes.side,
        "sentences": probes.sentences,
        "words": probes.words,
        "seeds": probes.seeds,
        "probes": [
            {
                "what": score.what,
                "layer": score.layer,
                **{
                    name: _numbers(values)
                    for name, values in (
                        ("accuracy", score.accuracy),
                        ("control", score.control),
                        ("selectivity", score.selectivity),
                        ("majority", score.majority),
                    )
                },
                "classes": dict(score.classes),
            }
            for score in probes.scores
        ],
    }


def _numbers(values: Sequence[float]) -> dict[str, Any]:
    mean, spread = mean_and_spread(values)
    return {"mean": mean, "spread": spread, "seeds": list(values)}


def draw_probes(probes: Probes, path: Path) -> set[str]:
    """Draw a panel for each label: accuracy, control task and majority by layer."""
    check_suffix(path)
    texts = [probes.title, *probes.whats]
    with canvas(texts) as new_figure:
        across = min(_ACROSS, len(probes.whats))
        down = -(-len(probes.whats) // across)
        figure = new_figure(figsize=(across * _PANEL[0], down * _PANEL[1] + 0.4), layout="constrained")
        grid = figure.subplots(down, across, squeeze=False, sharey=True)
        for axes, what in zip(grid.flat, probes.whats, strict=False):
            _draw_panel(axes, what, probes.of(what))
        for axes in list(grid.flat)[len(probes.whats) :]:
            axes.set_axis_off()
        handles, names = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=8, labelcolor=INK)
        figure.suptitle(f"{probes.title} · {probes.side}", fontsize=11, color=INK, parse_math=False)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_panel(axes: "Axes", what: str, scores: Sequence[ProbeScore]) -> None:
    layers = [score.layer for score in scores]
    lines = (
        ("accuracy", PALETTE[0], "-", [score.accuracy for score in scores]),
        ("control task", PALETTE[1], "--", [score.control for score in scores]),
        ("majority", SOFT, ":", [score.majority for score in scores]),
    )
    for name, colour, style, values in lines:
        means, spreads = zip(*(mean_and_spread([100 * value for value in seeds]) for seeds in values), strict=True)
        axes.plot(layers, means, color=colour, linestyle=style, marker="o", markersize=3, linewidth=1.4, label=name)
        low, high = (
            [mean + sign * (spread or 0) for mean, spread in zip(means, spreads, strict=True)] for sign in (-1, 1)
        )
        axes.fill_between(layers, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.set(ylim=(0, 103), xticks=layers)
    axes.set_title(what, fontsize=9.5, color=INK, loc="left", parse_math=False)
    axes.set_xlabel("layer", fontsize=8, color=INK)
    axes.tick_params(length=3, width=0.6, color=FAINT, labelsize=8, labelcolor=INK)
    axes.grid(axis="y", color="#ececec", linewidth=0.8)
    for side, spine in axes.spines.items():
        spine.set(color=FAINT, linewidth=0.8, visible=side in ("left", "bottom"))


def probes_page(probes: Probes) -> SealedPage:
    """Return the page: the curves, the scores, and the accuracy for each class."""
    tables = [LessonTable("Scores", COLUMNS, probes_rows(probes), CAPTION)]
    for what in probes.whats:
        scores = probes.of(what)
        names = list(scores[0].classes)
        rows = [
            [name, *(f"{100 * score.classes[name]:.1f}" if name in score.classes else "" for score in scores)]
            for name in names
        ]
        tables.append(LessonTable(f"{what} by class", ["class", *(f"layer {s.layer}" for s in scores)], rows))
    return lesson_page(f"{probes.title} · {probes.side}", lambda path: draw_probes(probes, path), tables)
