"""Where each memory fails as the delay grows: comparisons trained run by run, and one table of them.

    .venv/bin/python benchmarks/memories.py FOLDER compare-adding:data.length=100,400 compare-copy-memory [--seeds 1,2]
    .venv/bin/python benchmarks/memories.py FOLDER

The first line trains every variant of comparisons that come with regard, for every value of an option and every seed,
one after another in one process, and writes what each reaches on the test data as soon as it is done; seed by seed, so
that where time runs out there is something of everything. Several such processes share one folder, and none takes what
another has begun. The second line makes the table of all that is there: the error in percent, or the percentage that is
exact, its mean and that of each seed, and minutes.
"""

import argparse
import json
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from regard.base.progress import silent
from regard.base.recipe import apply_settings, parse
from regard.runs.compare.outcomes import judge
from regard.runs.compare.plan import PlannedRun, make_plan
from regard.runs.open import open_run
from regard.runs.recipes import recipe_text
from regard.runs.train import train
from regard.training.listeners import Lines

RESULT = "result.json"


@dataclass(frozen=True)
class Asked:
    """One run: what it is, which column of the table it belongs to, and what it is scored with."""

    run: PlannedRun
    column: str
    metrics: list[str]


def planned(asked: Sequence[str], settings: Sequence[str], seed: int, folder: Path) -> Iterator[Asked]:
    """The runs of comparisons for one seed; a comparison is asked for by its name, or as NAME:OPTION=VALUE,VALUE."""
    for each in asked:
        recipe, _, varied = each.partition(":")
        option, _, values = varied.partition("=")
        for value in values.split(","):
            changes = [f"{option}={value}"] if option else []
            table = apply_settings(parse(recipe_text(recipe), recipe), [*settings, *changes, f"seed={seed}"])
            plan = make_plan(apply_settings(table, ["compare.seeds=1"]), recipe)
            column = " ".join([recipe, *changes])
            yield from (Asked(run, column, plan.metrics) for run in plan.runs(folder / column.replace(" ", "-")))


def train_and_judge(asked: Asked) -> None:
    """Train a run from nothing, test it, and write down what came of it."""
    run, began = asked.run, time.monotonic()
    with (run.folder.parent / f"{run.folder.name}.log").open("w", encoding="utf-8") as log:
        train(open_run(run.recipe, run.folder, False, silent, lambda remark: None), [Lines(log)])
    minutes = (time.monotonic() - began) / 60
    scores = {score.metric: score.value for score in judge(run, "test", asked.metrics, silent).scores}
    result = {"column": asked.column, "variant": run.variant, "seed": run.recipe.seed, "minutes": minutes} | scores
    (run.folder / RESULT).write_text(json.dumps(result) + "\n", encoding="utf-8")
    print(json.dumps(result), flush=True)


def print_table(folder: Path) -> None:
    """One row for each variant, one column for each comparison and delay."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob(RESULT))]
    columns = sorted({each["column"] for each in results})
    print("| |", " | ".join(columns), "|")
    print("|", " | ".join(["---"] * (1 + len(columns))), "|")
    for variant in dict.fromkeys(each["variant"] for each in results):
        own = [[each for each in results if (each["column"], each["variant"]) == (name, variant)] for name in columns]
        print("|", " | ".join([variant, *map(_cell, own)]), "|")


def _cell(results: list[dict[str, float]]) -> str:
    if not results:
        return "–"
    values = [each.get("error", each.get("exact", float("nan"))) for each in results]
    each = ", ".join(f"{value:.1f}" for value in values)
    return f"{fmean(values):.1f} ({each}), {fmean(each['minutes'] for each in results):.1f} min"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("asked", nargs="*", metavar="COMPARISON[:OPTION=VALUE,…]")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="NAME=VALUE")
    given = parser.parse_args()
    if not given.asked:
        print_table(given.folder)
    for seed in map(int, given.seeds.split(",")):
        for asked in planned(given.asked, given.settings, seed, given.folder):
            taken = asked.run.folder.parent / f"{asked.run.folder.name}.taken"
            taken.parent.mkdir(parents=True, exist_ok=True)
            try:
                taken.touch(exist_ok=False)
            except FileExistsError:
                continue
            try:
                train_and_judge(asked)
            except Exception:  # the others may do
                print(f"{asked.run.title}: {traceback.format_exc()}", flush=True)


if __name__ == "__main__":
    main()
