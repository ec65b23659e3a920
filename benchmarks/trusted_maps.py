"""Which maps point at what is known to matter: methods by families, as agreement with the truth over seeds.

    .venv/bin/python benchmarks/trusted_maps.py RUN… [--items N] [--methods NAME …] [--out F.json]
    .venv/bin/python benchmarks/trusted_maps.py --join F.json… [--figure area]

A run is a model folder whose data were made by rules, so that the units behind each of its decisions are known. Each
method explains the same decisions of the test data; those that the model got wrong are left out. Runs of one family on
the same data are seeds of one column, shown as mean ± standard deviation. `--join` makes one table of several files.
docs/trust.md explains the figures, and benchmarks/trusted has recipes that train in a minute or three.
"""

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from regard.base.model_folder import read_recipe
from regard.seeing.trust.measured import measure_maps
from regard.verbs.opening import model_in

FIGURES = ("area", "mass", "top", "comprehensiveness", "sufficiency", "deletion", "insertion")


def measure(folder: Path, items: int, methods: list[str], device: str) -> dict[str, Any]:
    """Return the figures of one run as plain values."""

    def show(stage: str, done: int, total: int | None) -> None:
        if sys.stderr.isatty():
            print(f"\r{folder}: {stage} {done} of {total}", end="", file=sys.stderr)

    found = measure_maps(model_in(folder, device), items, methods, show)
    return {"run": str(folder), "seed": read_recipe(folder).get("seed"), **asdict(found)}


def table(runs: list[dict[str, Any]], figure: str) -> list[str]:
    """Return the table of methods by families in Markdown; a column has all seeds of a family and truth."""
    columns: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        columns[f"{run['family']}: {run['truth']}"].append(run)
    methods = list(dict.fromkeys(method for run in runs for method in run["methods"]))
    methods.sort(key=lambda method: method == "random")
    lines = [f"| {figure} | {' | '.join(columns)} |", f"| --- |{' --- |' * len(columns)}"]
    for method in methods:
        cells = [
            cell([run["methods"][method][figure] for run in seeds if method in run["methods"]])
            for seeds in columns.values()
        ]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    decisions = [
        f"{sum(run['right'] for run in seeds)} of {sum(run['asked'] for run in seeds)}" for seeds in columns.values()
    ]
    chance = [cell([run["methods"]["random"]["share"] for run in seeds]) for seeds in columns.values()]
    return [*lines, f"| true units, share | {' | '.join(chance)} |", f"| decisions right | {' | '.join(decisions)} |"]


def cell(values: list[float]) -> str:
    """Return mean ± standard deviation, or – if a method has no meaning for a family."""
    if not values:
        return "–"
    return f"{mean(values):.2f}" + (f" ± {stdev(values):.2f}" if len(values) > 1 else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="model folders")
    parser.add_argument("--items", type=int, default=100, help="decisions of each run")
    parser.add_argument("--methods", nargs="+", default=[], metavar="NAME", help="methods; by default all")
    parser.add_argument("--device", default="auto", help="cpu, cuda or auto")
    parser.add_argument("--out", type=Path, help="write the figures of the runs as JSON")
    parser.add_argument("--join", nargs="+", default=[], type=Path, metavar="F.json", help="files of earlier figures")
    parser.add_argument("--figure", choices=FIGURES, action="append", help="figures to show; by default area and top")
    asked = parser.parse_args()
    if not asked.runs and not asked.join:
        parser.error("name runs to measure, or files to --join")
    runs = [run for path in asked.join for run in json.loads(path.read_text())]
    for folder in asked.runs:
        runs.append(measure(folder, asked.items, asked.methods, asked.device))
    if asked.out:
        asked.out.write_text(json.dumps(runs, indent=1, ensure_ascii=False) + "\n")
    for figure in asked.figure or ("area", "top"):
        print("\n".join(table(runs, figure)), end="\n\n")


if __name__ == "__main__":
    main()
