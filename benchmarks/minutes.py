"""How well `regard train --minutes` keeps its time, and how good what it trains is beside fixed numbers of steps.

    .venv/bin/python benchmarks/minutes.py --minutes 1 2 4 --fixed 0.6 0.8 1 1.2 --out runs/minutes
    .venv/bin/python benchmarks/minutes.py --kinds translator --pairs 5000 --minutes 4 --threads 2 --out runs/a
    taskset -c 0,1 .venv/bin/python benchmarks/minutes.py --kinds tagger --minutes 4 --out runs/b --set model.dropout=.2

Three kinds of model: a translator of the first pairs of multi30k, English to German, from two files; the tagger of the
recipe conll2000; the GPT of gpt-shakespeare (`regard data get multi30k conll2000 tiny-shakespeare`). For each number of
minutes it prints one row of a Markdown table for the planned run, with the time asked for and taken, the steps planned
and taken and the score on the test. `--fixed` adds runs of the same model with as many steps as the planned run took,
times these numbers, by a cosine over their whole length; a line at the end compares each planned run with the best of
those that took no longer than was asked for. The aim is 90 to 110% of the time and at least 95% of that score.
`--checkout` runs another version of regard, to measure before and after; `--set` tries another plan.
"""

import argparse
import gzip
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from command_line import HERE, CommandLine, print_row, settings, steps_taken

from regard.data.catalogue.entries import data_folder

COLUMNS = (
    "model",
    "minutes",
    "run",
    "planned",
    "steps",
    "seconds",
    "of the time",
    "test score",
)
OF_PLANS = ("steps", "validate_every", "save_every", "patience", "optimizer")  # training options that a plan decides


@dataclass(frozen=True)
class Kind:
    """What is trained, how it is scored, and what the score is called."""

    given: Sequence[str]
    scored: Sequence[str]
    metric: str
    is_lower_better: bool = False


@dataclass(frozen=True)
class Result:
    """What came of one run."""

    name: str
    planned: str  # steps, by the timing before the first
    steps: int
    seconds: float
    score: float


def kind_of(name: str, asked: argparse.Namespace) -> Kind:
    """The data and the command line of a kind of model."""
    if name == "tagger":
        return Kind(["conll2000"], [], "f1")
    if name == "gpt":
        return Kind(["gpt-shakespeare"], [], "perplexity", is_lower_better=True)
    files = cut(asked.data or data_folder() / "multi30k" / "raw", asked.out / "text", asked.pairs)
    given = [
        "--source", files["train.en"], "--target", files["train.de"],
        "--valid-source", files["val.en"], "--valid-target", files["val.de"],
    ]  # fmt: skip
    scored = ["--source", files["test_2016_flickr.en"], "--reference", files["test_2016_flickr.de"], "--metric", "bleu"]
    return Kind(given, scored, "bleu")


def cut(data: Path, folder: Path, pairs: int) -> dict[str, str]:
    """The first pairs to train on, and all those to validate and test with, as plain files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for split, count in (("train", pairs), ("val", None), ("test_2016_flickr", None)):
        for language in ("en", "de"):
            path = folder / f"{split}.{language}"
            files[path.name] = str(path)
            with gzip.open(data / f"{split}.{language}.gz", "rt", encoding="utf-8") as lines:
                path.write_text("".join(islice(lines, count)), encoding="utf-8")
    return files


class Trainings:
    """Trains and scores runs of one kind."""

    def __init__(self, name: str, kind: Kind, asked: argparse.Namespace) -> None:
        self.name, self.kind, self.asked = name, kind, asked
        self.regard = CommandLine(asked.checkout, asked.threads)

    def planned(self, minutes: float) -> tuple[Result, Path]:
        """The run that is planned for so many minutes, and its folder."""
        place = self.asked.out / f"{self.name}-{minutes:g}"
        return self._train("planned", place, ["--minutes", f"{minutes:g}"], self.asked.set), place

    def fixed(self, planned: Path, minutes: float, times: float) -> Result:
        """The same model with a fixed number of steps: those that the planned run took, times this number."""
        steps = max(1, round(times * steps_taken(planned)))
        chosen = {
            "steps": steps, "validate_every": -(-steps // 8), "save_every": max(1, steps // 80), "patience": 0,
            "optimizer.schedule": "cosine", "optimizer.warmup": steps // 10,
        }  # fmt: skip
        own = [setting for setting in planned_settings(planned) if not _is_of_plan(setting)]
        more = [f"training.{name}={value}" for name, value in chosen.items()]
        place = self.asked.out / f"{self.name}-{minutes:g}-{times:g}"
        return self._train(f"{times:g} times as many", place, [], [*own, *more, *self.asked.set])

    def _train(self, name: str, place: Path, manner: Sequence[str], chosen: Sequence[str]) -> Result:
        _, said, seconds = self.regard.run(
            "train", *self.kind.given, "--out", str(place), "--overwrite", "--seed", str(self.asked.seed),
            *manner, *settings(chosen),
        )  # fmt: skip
        place.with_suffix(".log").write_text(said, encoding="utf-8")
        result, _, _ = self.regard.run("evaluate", str(place), *self.kind.scored, "--json")
        scores = {score["metric"]: score["value"] for score in json.loads(result)["scores"]}
        planned = re.search(r"^(?:Planned for [^:]*: (?:about )?|The )([\d,]+) steps?\b", said, re.MULTILINE)
        return Result(name, planned[1] if planned else "–", steps_taken(place), seconds, scores[self.kind.metric])


def planned_settings(run: Path) -> list[str]:
    """What was planned for a run, as settings; nothing where its steps fitted as they were."""
    plan = run / "training" / "plan.json"
    return list(json.loads(plan.read_text(encoding="utf-8"))["settings"]) if plan.exists() else []


def _is_of_plan(setting: str) -> bool:
    return setting.startswith(tuple(f"training.{name}" for name in OF_PLANS))


def share_of_best(planned: Result, fixed: Sequence[Result], minutes: float, kind: Kind) -> str:
    """The planned score beside the best of the runs that took no longer than so many minutes."""
    fitting = [each.score for each in fixed if each.seconds <= 60 * minutes]
    if not fitting:
        return "–"
    share = min(fitting) / planned.score if kind.is_lower_better else planned.score / max(fitting)
    return f"{100 * share:.0f}%"


def row_of(name: str, kind: Kind, minutes: float, result: Result) -> list[str]:
    """The cells of one run."""
    share = f"{result.seconds / (0.6 * minutes):.0f}%"
    score = f"{kind.metric} {result.score:.4g}"
    taken = f"{result.steps:,}", f"{result.seconds:.0f}"
    return [name, f"{minutes:g}", result.name, result.planned, *taken, share, score]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=("translator", "tagger", "gpt"), default=["translator"])
    parser.add_argument("--minutes", type=float, nargs="+", default=[4])
    parser.add_argument("--fixed", type=float, nargs="*", default=[], help="steps beside those of the planned run")
    parser.add_argument("--pairs", type=int, default=29_000, help="of the translator")
    parser.add_argument("--threads", type=int, default=0, help="0: as many as torch takes by itself")
    parser.add_argument("--checkout", type=Path, default=HERE, help="a checkout of another version")
    parser.add_argument("--out", type=Path, required=True, help="folder for the text and the runs")
    parser.add_argument("--data", type=Path, help="folder of multi30k's raw files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="as of regard train")
    asked = parser.parse_args()
    columns: Sequence[str] = COLUMNS
    shares = []
    for name in asked.kinds:
        kind = kind_of(name, asked)
        trainings = Trainings(name, kind, asked)
        for minutes in asked.minutes:
            planned, place = trainings.planned(minutes)
            print_row(row_of(name, kind, minutes, planned), columns)
            columns, fixed = (), []
            for times in asked.fixed:
                fixed.append(trainings.fixed(place, minutes, times))
                print_row(row_of(name, kind, minutes, fixed[-1]), columns)
            shares.append(f"{name}, {minutes:g} min: {share_of_best(planned, fixed, minutes, kind)}")
    if asked.fixed:
        print(f"\nOf the best fixed run that fits: {'; '.join(shares)}.")


if __name__ == "__main__":
    main()
