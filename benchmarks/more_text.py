"""More from less text: 20,000 pairs of Tatoeba, the rest as text of one language, and what each use of it gives.

    .venv/bin/python benchmarks/more_text.py --work runs/more-text --jobs 8

Compares, on the test by BLEU and chrF over seeds: the pairs alone; back-translation plain, tagged and sampled; forward
translation; copied text; and the pairs with wrong pairs among them, unfiltered and filtered. The share of the added
text is chosen on validation sentences. Cut it at any second and start it again: finished parts are skipped, and runs
continue from their checkpoints. The table is in WORK/table.md and WORK/table.json after each finished run.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import regard
from regard.base.faults import Fault
from regard.base.files import write_file
from regard.base.processes import die_with_parent
from regard.data.corpora.hashes import fold
from regard.data.corpora.options import Corpus
from regard.data.corpora.text import read_pairs

TRAIN = "tatoeba-en-pt:eng-por.train.tsv.gz"
TEST = "tatoeba-en-pt:eng-por.test-v2021-08-07.tsv.gz"
TEXT_SEED = 1  # decides which pairs are real and which are only text, the same for all runs
KEPT = 0.65  # share that the filter keeps of the noisy pairs, two thirds of which are right
ADDED = ("back plain", "back tagged", "back sampled", "forward", "copied")  # variants that add text, with a share
VARIANTS = ("real", *ADDED, "noisy", "filtered")
Pair = tuple[str, str]


@dataclass(frozen=True)
class Setting:
    """Sizes of the experiment; a folder of another setting is refused."""

    pairs: int
    mono: int
    valid: int
    test: int
    preset: str
    steps: int
    batch_tokens: int
    vocabulary: int
    dropout: float


@dataclass(frozen=True)
class Task:
    """A part of the work, which begins when the parts that it needs are finished."""

    name: str
    needs: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        return self.name.replace(" ", "-").replace(":", "_")


def tasks_for(seeds: int, shares: list[float], only: list[str]) -> list[Task]:
    """Return all tasks in the order of their importance: the first share of every variant comes first."""
    texts = {
        "back plain": "text:beam",
        "back tagged": "text:beam",
        "back sampled": "text:sampled",
        "forward": "text:forward",
        "filtered": "text:filtered",
    }
    models = {"text:beam": "reverse", "text:sampled": "reverse", "text:forward": "real", "text:filtered": "noisy"}
    tasks: dict[str, Task] = {}

    def add(name: str, *needs: str) -> str:
        tasks.setdefault(name, Task(name, needs))
        return name

    for share in shares:
        for seed in range(1, seeds + 1):
            for variant in VARIANTS:
                if only and variant not in only:
                    continue
                needs = []
                if variant in texts:
                    text = texts[variant]
                    needs = [add(f"{text}:{seed}", add(f"run:{models[text]}:{seed}"))]
                add(f"run:{variant}:{seed}:{share:g}" if variant in ADDED else f"run:{variant}:{seed}", *needs)
    return list(tasks.values())


# Text


def make_text(work: Path, setting: Setting) -> None:
    """Write real pairs, validation, test, noisy pairs, and texts of both languages that no pair of the corpus joins."""
    folder = work / "text"
    if (folder / "done").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(TEXT_SEED)
    test = list(read_pairs(Corpus(pairs=TEST)))[: setting.test]
    seen = {fold(side) for pair in test for side in pair}
    corpus = [pair for pair in dict.fromkeys(read_pairs(Corpus(pairs=TRAIN))) if not _is_seen(pair, seen)]
    rng.shuffle(corpus)
    valid, rest = corpus[: setting.valid], corpus[setting.valid :]
    seen |= {fold(side) for pair in valid for side in pair}
    rest = [pair for pair in rest if not _is_seen(pair, seen)]
    real, rest = rest[: setting.pairs], rest[setting.pairs :]
    seen |= {fold(side) for pair in real for side in pair}
    rest = [pair for pair in rest if not _is_seen(pair, seen)]
    half = len(rest) // 2
    portuguese = list(dict.fromkeys(target for _, target in rest[:half]))[: setting.mono]
    folded = set(map(fold, portuguese))
    joined = {fold(source) for source, target in rest if fold(target) in folded}
    english = [source for source in dict.fromkeys(source for source, _ in rest[half:]) if fold(source) not in joined]
    english = english[: setting.mono]
    noisy = [*real, *_wrong_pairs(english, portuguese, setting.pairs // 2, rng)]
    rng.shuffle(noisy)
    _write_pairs(folder / "real.tsv", real)
    _write_pairs(folder / "valid.tsv", valid)
    _write_pairs(folder / "test.tsv", test)
    _write_pairs(folder / "noisy.tsv", noisy)
    for name, pairs in {"real": real, "valid": valid}.items():  # for the reverse direction
        for language, side in (("en", 0), ("pt", 1)):
            write_file(folder / f"{name}.{language}", "".join(f"{pair[side]}\n" for pair in pairs).encode())
    write_file(folder / "mono.en", "".join(f"{line}\n" for line in english).encode())
    write_file(folder / "mono.pt", "".join(f"{line}\n" for line in portuguese).encode())
    sizes = {"real": len(real), "valid": len(valid), "test": len(test), "noisy": len(noisy)}
    write_file(folder / "done", json.dumps(sizes | {"en": len(english), "pt": len(portuguese)}).encode())


def _is_seen(pair: Pair, seen: set[str]) -> bool:
    return any(fold(side) in seen for side in pair)


def _wrong_pairs(english: list[str], portuguese: list[str], count: int, rng: random.Random) -> list[Pair]:
    """Return pairs of sentences that do not belong together, and untranslated ones: a half and two quarters."""
    shuffled = list(zip(rng.sample(english, count // 2), rng.sample(portuguese, count // 2), strict=True))
    untranslated = [*rng.sample(english, count // 4), *rng.sample(portuguese, count // 4)]
    return [*shuffled, *((line, line) for line in untranslated)]


def _write_pairs(file: Path, pairs: list[Pair]) -> None:
    write_file(file, "".join(f"{source}\t{target}\n" for source, target in pairs).encode())


# One task, in a process of its own


def do_task(work: Path, setting: Setting, name: str) -> dict[str, Any]:
    """Do one task and return its result."""
    kind, what, seed, *share = name.split(":")
    if kind == "run":
        return train_run(work, setting, what, int(seed), float(share[0]) if share else None)
    out, text = work / f"{what}-{seed}.tsv", work / "text"
    if what == "filtered":
        # The score comes from a model that learnt from the noisy pairs themselves.
        model = run_folder(work, "noisy", int(seed))
        result = regard.filter_pairs(
            text / "noisy.tsv", out, languages="en-pt", model=model, keep=KEPT, overwrite=True, quiet=True
        )
        return result.as_dict()
    model = run_folder(work, "real" if what == "forward" else "reverse", int(seed))
    file, sample = text / ("mono.en" if what == "forward" else "mono.pt"), what == "sampled"
    if out.exists():
        out.unlink()  # finished just before the note of it was lost
    report = regard.back_translate(model, file, out, sample=sample, seed=int(seed), resume=True, quiet=True)
    return {"report": report}


def run_folder(work: Path, variant: str, seed: int, share: float | None = None) -> Path:
    return work / Task(f"run:{variant}:{seed}" + (f":{share:g}" if share is not None else "")).file


def corpora_of(work: Path, variant: str, seed: int, share: float | None) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return the training corpora of a variant, and its texts of one language."""
    text = work / "text"
    real: dict[str, Any] = {"pairs": str(text / "real.tsv")}
    weights = {} if share is None else {"weight": share}
    if share is not None:
        real |= {"weight": 1 - share}
    match variant:
        case "real":
            return [real], []
        case "reverse":
            return [{"source": str(text / "real.pt"), "target": str(text / "real.en")}], []
        case "noisy":
            return [{"pairs": str(text / "noisy.tsv")}], []
        case "filtered":
            return [{"pairs": str(work / f"filtered-{seed}.tsv")}], []
        case "copied":
            return [{"pairs": str(text / "real.tsv")}], [{"file": str(text / "mono.pt"), "way": "copy", "share": share}]
        case "forward":
            return [
                real,
                {"pairs": str(work / f"forward-{seed}.tsv"), "columns": "2:1", "header": False, **weights},
            ], []
    written = "sampled" if variant == "back sampled" else "beam"
    added = {"pairs": str(work / f"{written}-{seed}.tsv"), "tagged": variant != "back plain", **weights}
    return [real, added | {"held_out": False}], []


def recipe_of(work: Path, setting: Setting, variant: str, seed: int, share: float | None) -> dict[str, Any]:
    train, mono = corpora_of(work, variant, seed, share)
    text, languages = work / "text", ("en", "pt")
    held = {"valid": {"pairs": str(text / "valid.tsv")}, "test": {"pairs": str(text / "test.tsv")}}
    if variant == "reverse":
        languages = ("pt", "en")
        held = {"valid": {"source": str(text / "valid.pt"), "target": str(text / "valid.en")}}
    return {
        "family": "transformer",
        "task": "translation",
        "seed": seed,
        "data": {
            "source_language": languages[0],
            "target_language": languages[1],
            "train": train,
            "mono": mono,
            **held,
            "tokeniser": {"kind": "bpe", "vocabulary": setting.vocabulary},
            "processes": 2,
        },
        "model": {"preset": setting.preset, "norm": "before", "dropout": setting.dropout},
        "training": {
            "steps": setting.steps,
            "batch_tokens": setting.batch_tokens,
            "validate_every": setting.steps,
            "save_every": max(1, setting.steps // 40),
            "keep": 8,
            "final": "average",
            "best_by": "loss",
            "validation_beam": 0,
            "optimizer": {"learning_rate": 2e-3, "schedule": "cosine", "warmup": max(1, setting.steps // 10)},
        },
    }


def train_run(work: Path, setting: Setting, variant: str, seed: int, share: float | None) -> dict[str, Any]:
    """Train one run, or continue it, and score it on validation and test."""
    folder, recipe = run_folder(work, variant, seed, share), recipe_of(work, setting, variant, seed, share)
    model = regard.train(recipe, out=folder, resume=True, quiet=True)
    splits: list[Literal["valid", "test"]] = ["valid"] if variant == "reverse" else ["valid", "test"]
    return {
        f"{split} {score.metric}": score.value
        for split in splits
        for score in regard.evaluate(model, split, metrics=["bleu", "chrf"], quiet=True)
    }


# All tasks


def run_all(work: Path, tasks: list[Task], jobs: int, minutes: float | None, report: Callable[[], object]) -> bool:
    """Run tasks in processes, as many as `jobs` at once; return True if all are finished."""
    end = None if minutes is None else time.monotonic() + 60 * minutes
    running: dict[str, subprocess.Popen[bytes]] = {}
    failed: set[str] = set()
    try:
        while True:
            for name in [name for name, process in running.items() if process.poll() is not None]:
                if running.pop(name).returncode or not is_done(work, name):
                    failed.add(name)
                    print(f"failed: {name}; its log is {log_of(work, name)}", flush=True)
                report()
            waiting = [
                task
                for task in tasks
                if task.name not in running and task.name not in failed and not is_done(work, task.name)
            ]
            if (not waiting and not running) or (end is not None and time.monotonic() > end):
                return not waiting and not running and not failed
            ready = [task for task in waiting if all(is_done(work, need) for need in task.needs)]
            if not ready and not running:
                return False
            for task in ready[: jobs - len(running)]:
                print(f"{time.strftime('%H:%M:%S')} {task.name}", flush=True)
                running[task.name] = start(work, task.name)
            time.sleep(0.5)
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait()


def start(work: Path, name: str) -> "subprocess.Popen[bytes]":
    with log_of(work, name).open("ab") as log:
        command = [sys.executable, __file__, "--work", str(work), "--task", name]
        threads = {name: os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        return subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | threads)


def result_of(work: Path, name: str) -> Path:
    return work / "results" / f"{Task(name).file}.json"


def log_of(work: Path, name: str) -> Path:
    return work / "logs" / f"{Task(name).file}.txt"


def is_done(work: Path, name: str) -> bool:
    return result_of(work, name).exists()


# The table


def rows_of(work: Path, seeds: int, shares: list[float]) -> Iterator[dict[str, Any]]:
    """Yield a row for each variant with finished runs; its share is the best on validation of those with most seeds."""
    for variant in VARIANTS:
        ways = []
        for share in shares if variant in ADDED else [None]:
            names = [f"run:{variant}:{seed}" + ("" if share is None else f":{share:g}") for seed in range(1, seeds + 1)]
            results = [json.loads(result_of(work, name).read_text()) for name in names if is_done(work, name)]
            if results:
                ways.append((len(results), statistics.mean(run["valid chrf"] for run in results), share, results))
        if ways:
            _, _, share, results = max(ways, key=lambda way: way[:2])
            row: dict[str, Any] = {"variant": variant, "share": share, "seeds": len(results)}
            for metric in ("test bleu", "test chrf", "valid chrf"):
                values = [run[metric] for run in results]
                row[metric] = {
                    "mean": statistics.mean(values),
                    "spread": statistics.stdev(values) if len(values) > 1 else None,
                }
            yield row | {"tried": {f"{way[2]}": way[1] for way in ways}}


def write_table(work: Path, setting: Setting, seeds: int, shares: list[float]) -> str:
    """Write the table as JSON and Markdown, and return the latter."""
    rows = list(rows_of(work, seeds, shares))
    sizes = json.loads((work / "text" / "done").read_text())
    write_file(
        work / "table.json", json.dumps({"setting": vars(setting), "text": sizes, "rows": rows}, indent=1).encode()
    )
    lines = ["| text | share added | seeds | BLEU | chrF | chrF, validation |", "| --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        share = "–" if row["share"] is None else f"{row['share']:.0%}"
        cells = [_with_spread(row[metric]) for metric in ("test bleu", "test chrf", "valid chrf")]
        lines.append(f"| {row['variant']} | {share} | {row['seeds']} | {' | '.join(cells)} |")
    table = "\n".join(lines) + "\n"
    write_file(work / "table.md", table.encode())
    return table


def _with_spread(score: dict[str, Any]) -> str:
    return f"{score['mean']:.2f}" + (f" ± {score['spread']:.2f}" if score["spread"] is not None else "")


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--work", type=Path, required=True, help="folder for text, runs, results and the table")
    options.add_argument("--jobs", type=int, default=8, help="processes at once")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument(
        "--shares", type=float, nargs="+", default=[0.5, 0.8], help="shares of added text to choose from"
    )
    options.add_argument("--only", nargs="+", default=[], choices=VARIANTS, help="variants to run")
    options.add_argument("--minutes", type=float, help="stop after this time; start again to continue")
    options.add_argument("--pairs", type=int, default=20_000, help="real pairs")
    options.add_argument("--lines", type=int, default=90_000, help="most lines of each text of one language")
    options.add_argument("--valid", type=int, default=2_000)
    options.add_argument("--test", type=int, default=20_000, help="most test pairs")
    options.add_argument("--preset", default="small")
    options.add_argument("--steps", type=int, default=2_400)
    options.add_argument("--batch-tokens", type=int, default=8_192)
    options.add_argument("--vocabulary", type=int, default=8_000)
    options.add_argument("--dropout", type=float, default=0.3)
    options.add_argument("--table", action="store_true", help="only print the table of what is finished")
    options.add_argument("--task", help=argparse.SUPPRESS)
    return options


def setting_of(options: argparse.Namespace) -> Setting:
    """Return the setting of the folder, which must be that of the options."""
    given = Setting(
        options.pairs,
        options.lines,
        options.valid,
        options.test,
        options.preset,
        options.steps,
        options.batch_tokens,
        options.vocabulary,
        options.dropout,
    )
    file = options.work / "setting.json"
    if not file.exists():
        for inner in ("results", "logs"):
            (options.work / inner).mkdir(parents=True, exist_ok=True)
        write_file(file, json.dumps(vars(given)).encode())
    stored = Setting(**json.loads(file.read_text()))
    if not (options.task or options.table) and stored != given:
        raise SystemExit(f"{options.work} has other sizes: {stored}; name another --work.")
    return stored


def main() -> None:
    options = parser().parse_args()
    setting = setting_of(options)
    if options.task:
        die_with_parent()  # or a second try would find its run locked
        write_result = partial(write_file, result_of(options.work, options.task))
        try:
            write_result(json.dumps(do_task(options.work, setting, options.task)).encode())
        except Fault as fault:
            raise SystemExit(" ".join(fault.sentences)) from None
        return
    if not options.table:
        make_text(options.work, setting)
        tasks = tasks_for(options.seeds, options.shares, options.only)
        report = partial(write_table, options.work, setting, options.seeds, options.shares)
        finished = run_all(options.work, tasks, options.jobs, options.minutes, report)
        print("finished" if finished else "not finished; the same command continues", flush=True)
    print(write_table(options.work, setting, options.seeds, options.shares))


if __name__ == "__main__":
    main()
