"""How DRAW was learnt: the bound in nats on validation pictures, step by step, of some runs.

    regard train draw-mnist && regard train draw-mnist-plain
    python benchmarks/draw_curves.py runs/draw-mnist runs/draw-mnist-plain -o docs/pictures/draw-curves.png

What a run printed (a .log) can be given in place of its folder.
"""

import argparse
import re
from pathlib import Path

from regard.training.checkpoint import RunFolder
from regard.viewing.curves import Points, draw_curves

PUBLISHED = {"draw-mnist": 80.97, "draw-mnist-plain": 87.40}  # Gregor et al. 2015, table 2, on other binary pictures
VALIDATION = re.compile(r"^step (\d+)  validation  bound ([0-9.]+)", re.MULTILINE)


def curve_of(run: Path) -> Points:
    """The bound at each validation of a run."""
    if run.suffix == ".log":
        found = dict(VALIDATION.findall(run.read_text(encoding="utf-8")))
        return [(int(step), float(bound)) for step, bound in found.items()]
    facts = RunFolder(run).facts()
    if facts is None:
        raise SystemExit(f"{run} is not the folder of a run.")
    return [(step, values["bound"]) for step, values in facts.validations]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="Folders of runs, or what they printed.")
    parser.add_argument("-o", "--out", type=Path, required=True, help="A picture.")
    parser.add_argument("--since", type=int, default=0, help="The first step that is drawn.")
    given = parser.parse_args()
    series = {run.stem: [point for point in curve_of(run) if point[0] >= given.since] for run in given.runs}
    steps = [step for points in series.values() for step, _ in points]
    for name in [name for name in PUBLISHED if name in series]:
        series[f"{name}, published"] = [(step, PUBLISHED[name]) for step in (min(steps), max(steps))]
    draw_curves(series, given.out, "Bound on validation pictures, in nats")
