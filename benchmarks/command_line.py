"""Runs `regard` as people do, in a process of its own, and reads what it left: for benchmarks of whole commands."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parents[1]


@dataclass(frozen=True)
class CommandLine:
    """The `regard` of a checkout, with so many threads (0: as many as torch takes by itself)."""

    checkout: Path = HERE
    threads: int = 0

    def run(self, *arguments: str) -> tuple[str, str, float]:
        """What a command printed as its result and beside it, and the seconds it took; a failure ends everything."""
        paths = [str(self.checkout.resolve()), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
        if self.threads:
            environment["OMP_NUM_THREADS"] = str(self.threads)
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "regard", *arguments], env=environment, capture_output=True, text=True, check=False
        )
        seconds = time.monotonic() - began
        if done.returncode:
            sys.exit(f"regard {' '.join(arguments)} ended with status {done.returncode}:\n{done.stderr[-2000:]}")
        return done.stdout, done.stderr, seconds

    def scores(self, run: Path, source: Path, references: Sequence[Path], *metrics: str) -> dict[str, float]:
        """How a model scores on a file, given one or more files of references."""
        asked = [word for metric in metrics for word in ("--metric", metric)]
        files = ["--source", str(source), *(word for path in references for word in ("--reference", str(path)))]
        result, _, _ = self.run("evaluate", str(run), *files, *asked, "--json")
        return {score["metric"]: score["value"] for score in json.loads(result)["scores"]}


def settings(values: Sequence[str]) -> list[str]:
    """Settings as `regard train` takes them."""
    return [word for value in values for word in ("--set", value)]


def steps_taken(run: Path) -> int:
    """The step of the last checkpoint, in folders of any version."""
    return max(int(path.name) for path in (run / "training" / "checkpoints").iterdir() if path.name.isdigit())


def valid_score(run: Path, metric: str) -> float:
    """What the validation found of the published weights; not a number if there was none."""
    scores = json.loads((run / "scores.json").read_text(encoding="utf-8"))["scores"]
    found = [score["value"] for score in scores if score["metric"] == metric and score["split"] == "valid"]
    return found[0] if found else float("nan")


def print_row(cells: Sequence[str], columns: Sequence[str]) -> None:
    """A row of a Markdown table, below the names of its columns if they are given."""
    if columns:
        print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    print(f"| {' | '.join(cells)} |", flush=True)
