"""What a comparison leaves in its folder: the numbers, a page, and pictures."""

import json
from pathlib import Path

from regard.comparing.page import page
from regard.comparing.report import Comparison
from regard.files import finite, write_file
from regard.training.snapshot import LOWER_IS_BETTER
from regard.viewing.comparison import draw_by_length, draw_comparison


def keep(comparison: Comparison, folder: Path) -> set[str]:
    """Write all of it into the folder; gives the characters that no font here can draw."""
    text = json.dumps(finite(comparison.as_dict()), ensure_ascii=False, indent=1, allow_nan=False)
    write_file(folder / "comparison.json", f"{text}\n".encode())
    write_file(folder / "comparison.md", page(comparison).encode())
    title = comparison.name if comparison.differ_in == "variant" else f"{comparison.name}: {comparison.differ_in}"
    names = [found.variant for found in comparison.variants]
    metrics = {place: _label(each.metric) for place, each in enumerate(comparison.variants[0].measures)}
    values = {
        label: [found.measures[place].values for found in comparison.variants] for place, label in metrics.items()
    }
    missing = draw_comparison(names, values, folder / "comparison.png", title)
    if comparison.buckets:
        lines = {
            label: [found.measures[place].by_length for found in comparison.variants]
            for place, label in metrics.items()
        }
        ticks = [(bucket.label, len(bucket.sentences)) for bucket in comparison.buckets]
        missing |= draw_by_length(ticks, names, lines, folder / "by-length.png", title)
    return missing


def _label(metric: str) -> str:
    return f"{metric} (lower is better)" if metric in LOWER_IS_BETTER else metric
