"""What a comparison leaves in its folder: the numbers, a page, and pictures."""

from collections.abc import Sequence
from pathlib import Path

from regard.base.files import write_file
from regard.runs.compare.findings import SeedScores
from regard.runs.compare.formats import FORMATS
from regard.runs.compare.plan import PlannedRun
from regard.runs.compare.report import Comparison
from regard.training.checkpoint import RunFolder
from regard.viewing.comparison import draw_by_length, draw_comparison
from regard.viewing.curves import draw_curves


def keep(comparison: Comparison, folder: Path) -> set[str]:
    """Write all of it into the folder; gives the characters that no font here can draw."""
    for suffix, text in FORMATS.items():
        write_file(folder / f"comparison{suffix}", text(comparison).encode())
    names = [found.variant for found in comparison.variants]
    metrics = {place: _label(each) for place, each in enumerate(comparison.variants[0].measures)}
    values = {
        label: [found.measures[place].values for found in comparison.variants] for place, label in metrics.items()
    }
    missing = draw_comparison(names, values, folder / "comparison.png", comparison.title)
    if comparison.buckets:
        lines = {
            label: [found.measures[place].by_length for found in comparison.variants]
            for place, label in metrics.items()
        }
        ticks = [(bucket.label, len(bucket.sentences)) for bucket in comparison.buckets]
        missing |= draw_by_length(ticks, names, lines, folder / "by-length.png", comparison.title)
    return missing


def keep_losses(runs: Sequence[PlannedRun], folder: Path, title: str) -> set[str]:
    """Draw how the training loss fell, of the first seed of each variant, all in one picture; the same is given."""
    first = {run.variant: run for run in reversed(runs)}
    curves: dict[str, list[tuple[int, float]]] = {}
    for run in reversed(first.values()):
        if (facts := RunFolder(run.folder).facts()) is not None and facts.losses:
            curves[f"training loss, {run.title}"] = list(facts.losses)
    return draw_curves(curves, folder / "losses.png", title) if curves else set()


def _label(measure: SeedScores) -> str:
    return f"{measure.metric} (lower is better)" if measure.better == "lower" else measure.metric
