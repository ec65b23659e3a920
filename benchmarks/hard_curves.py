"""How a comparison of hard attention was learnt: the accuracy of the next token on validation data, step by step.

    .venv/bin/regard compare compare-soft-hard --out runs/compare-soft-hard
    .venv/bin/python benchmarks/hard_curves.py runs/compare-soft-hard -o docs/pictures/hard-curves.png

Each curve is the mean over the seeds that are finished. With a name that ends in .json the numbers are written instead,
and such a file can be drawn later in place of the folder.
"""

import argparse
import json
from pathlib import Path
from statistics import fmean

from regard.base.recipe import parse
from regard.runs.compare.plan import make_plan
from regard.runs.recipes import recipe_text
from regard.training.checkpoint import RunFolder
from regard.viewing.curves import draw_curves

RECIPE, MEASURE = "compare-soft-hard", "accuracy"


def curves_in(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """The measure at each validation, by variant, over all of its seeds that were trained to the end."""
    found: dict[str, dict[int, list[float]]] = {}
    for run in make_plan(parse(recipe_text(RECIPE), RECIPE), RECIPE).runs(folder):
        facts = RunFolder(run.folder).facts() if run.folder.exists() else None
        if facts is not None and facts.finished:
            points = found.setdefault(run.variant, {})
            for step, values in facts.validations:
                points.setdefault(step, []).append(values[MEASURE])
    return {
        f"{variant}, {_count(points)}": [(step, fmean(values)) for step, values in points.items()]
        for variant, points in found.items()
    }


def _count(points: dict[int, list[float]]) -> str:
    seeds = max(map(len, points.values()))
    return "one seed" if seeds == 1 else f"{seeds} seeds"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="The folder of the comparison, or numbers that were written of it.")
    parser.add_argument("-o", "--out", type=Path, required=True, help="A picture, or a file of numbers (.json).")
    given = parser.parse_args()
    curves = json.loads(given.runs.read_text()) if given.runs.suffix == ".json" else curves_in(given.runs)
    if given.out.suffix == ".json":
        given.out.write_text(json.dumps(curves, indent=1) + "\n", encoding="utf-8")
    else:
        draw_curves(curves, given.out, "Accuracy of the next token on validation data")
