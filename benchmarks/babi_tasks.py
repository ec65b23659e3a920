"""The tasks of bAbI one by one: a memory network for each, and what it gets wrong of the test.

Run it with `python benchmarks/babi_tasks.py`: every task by the recipe `memory-babi-single`, ten restarts side by side,
of which the one with the lowest training error answers; a line each as soon as it is done, and their mean. Model
folders are kept in runs/babi-tasks. Ten minutes on one H200 that does nothing else.
"""

import argparse
import time
from pathlib import Path
from statistics import fmean

import regard

RECIPE, SPLITS = "memory-babi-single", ("train", "test")


def measure_task(number: int, out: Path, settings: dict[str, int]) -> tuple[float, str]:
    """Train the model of one task and score it: what it gets wrong, and a line for people."""
    files = {f"data.{split}": f"babi:tasks_1-20_v1-2/en/qa{number}_*_{split}.txt" for split in SPLITS}
    began = time.monotonic()
    model = regard.train(RECIPE, settings=files | settings, out=out / f"task-{number}", quiet=True)
    scores = {score.metric: score for score in regard.evaluate(model, quiet=True)}
    shown = "  ".join(f"{name} {scores[name].shown}" for name in ("error", "mean_error", "agreement") if name in scores)
    return scores["error"].value, f"task {number}: {shown}  {time.monotonic() - began:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description="bAbI task by task.")
    parser.add_argument("tasks", nargs="*", type=int, default=range(1, 21), help="numbers of tasks; by default all")
    parser.add_argument("--out", type=Path, default=Path("runs/babi-tasks"), help="where model folders are kept")
    parser.add_argument("--steps", type=int, help="fewer than the recipe has, to try it")
    parser.add_argument("--patience", type=int, help="training.linear_patience, where it is not the recipe's")
    given = parser.parse_args()
    changed = {"training.steps": given.steps, "training.linear_patience": given.patience}
    settings = {name: value for name, value in changed.items() if value is not None}
    errors = []
    for number in given.tasks:
        error, line = measure_task(number, given.out, settings)
        errors.append(error)
        print(line, flush=True)
    print(f"mean of {len(errors)} tasks: error {fmean(errors):.2f}")


if __name__ == "__main__":
    main()
