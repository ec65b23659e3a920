"""Where each memory fails as the delay grows: comparisons trained run by run, and one table of them.

    .venv/bin/python benchmarks/memories.py runs/memories --recipe compare-adding --vary data.length=100,400
    .venv/bin/python benchmarks/memories.py runs/memories

The first line trains, one after another in one process, every variant of a comparison for every seed and value, and
writes what each reaches on the test data into the folder as soon as it is done; seed by seed, so that a run that is cut
short has something of everything. Several such processes share one folder, and none takes what another has begun. The
second line makes the table of all that is there: the error in percent, its mean and that of each seed, and minutes.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
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


def planned(recipe: str, settings: Sequence[str], vary: str | None, folder: Path) -> Iterator[tuple[PlannedRun, str]]:
    """All runs of a comparison, seed by seed, and what each is asked for, such as data.length=400."""
    option, _, values = (vary or "").partition("=")
    table, plans = parse(recipe_text(recipe), recipe), {}
    for value in values.split(",") if vary else [""]:
        name = f"{option}={value}" if vary else ""
        changed = apply_settings(table, [*settings, *([name] if name else [])])
        place = "-".join(filter(None, (recipe, *settings, name))).replace("/", "_")
        plans[name] = make_plan(changed, recipe).runs(folder / place)
    for number in range(max(len(runs) for runs in plans.values())):
        yield from ((runs[number], name) for name, runs in plans.items() if number < len(runs))


def train_and_judge(run: PlannedRun, recipe: str, asked: str) -> None:
    """Train a run from nothing, test it, and write down what came of it."""
    began = time.monotonic()
    with (run.folder.parent / f"{run.folder.name}.log").open("w", encoding="utf-8") as log:
        train(open_run(run.recipe, run.folder, False, silent, lambda remark: None), [Lines(log)])
    minutes = (time.monotonic() - began) / 60
    scores = {score.metric: score.value for score in judge(run, "test", [], silent).scores}
    result = {"recipe": recipe, "asked": asked, "variant": run.variant, "seed": run.recipe.seed, "minutes": minutes}
    (run.folder / RESULT).write_text(json.dumps(result | scores) + "\n", encoding="utf-8")
    print(json.dumps(result | scores), flush=True)


def print_table(folder: Path) -> None:
    """One row for each variant, one column for each comparison and delay."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob(RESULT))]
    columns = sorted({(each["recipe"], each["asked"]) for each in results}, key=str)
    variants = list(dict.fromkeys(each["variant"] for each in results))
    print("| |", " | ".join(f"{recipe} {asked}" for recipe, asked in columns), "|")
    print("|", " | ".join(["---"] * (1 + len(columns))), "|")
    for variant in variants:
        cells = []
        for column in columns:
            own = [each for each in results if (each["recipe"], each["asked"], each["variant"]) == (*column, variant)]
            cells.append(_cell([each["error"] for each in own], [each["minutes"] for each in own]))
        print("|", " | ".join([variant, *cells]), "|")


def _cell(errors: Sequence[float], minutes: Sequence[float]) -> str:
    if not errors:
        return "–"
    each = ", ".join(f"{error:.1f}" for error in errors)
    return f"{fmean(errors):.1f} ({each}), {fmean(minutes):.1f} min"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--recipe", help="a comparison that comes with regard")
    parser.add_argument("--vary", help="an option and its values, as in data.length=100,400")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="NAME=VALUE")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no further run after so many")
    asked = parser.parse_args()
    if asked.recipe is None:
        print_table(asked.folder)
        return
    began = time.monotonic()
    for run, name in planned(asked.recipe, asked.settings, asked.vary, asked.folder):
        claim = run.folder.parent / f"{run.folder.name}.taken"
        claim.parent.mkdir(parents=True, exist_ok=True)
        try:
            claim.touch(exist_ok=False)
        except FileExistsError:
            continue
        if time.monotonic() - began > 60 * asked.minutes:
            claim.unlink()
            break
        train_and_judge(run, asked.recipe, name)


if __name__ == "__main__":
    main()
