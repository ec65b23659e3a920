"""Small translators in 8 and 4 bits, before and after tuning, and with recurrent decoders: BLEU of each.

    .venv/bin/python benchmarks/quantised_students.py [MODEL …] --out DIR [--recipes NAME …] [--seeds 1 2 3] [--jobs N]
    .venv/bin/python benchmarks/quantised_students.py … --table

Each MODEL is a translator's folder. `--recipes` also trains students of six blocks and two, of width 256, on the data
of these recipes, with each of `--decoders` instead of the decoder's self-attention. Every translator is scored on its
test as it is, and computing with rounded weights and states (`regard/models/rounding.py`), which gives what CTranslate2
computes in int8. Then it is tuned for `--tuning-steps` on its own data, without rounding (for comparison), in int8 and
in int4, and scored again. If CTranslate2 or onnxruntime is installed, the test is also translated by their int8
exports, and outputs that equal ours are counted.

Finished runs and scores are found again, and a run that was cut continues, so the same command goes on where it
stopped; `--minutes` cuts it in time. A student that learnt its teachers' distribution is tuned on its text alone.
`--steps 6 --tuning-steps 4 --lines 10 --set model.width=64 training.batch_tokens=256` tries everything in minutes.
"""

import argparse
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from regard.base.files import write_file
from regard.base.processes import die_with_parent

STUDENT = {
    **{"model.preset": "small", "model.encoder_layers": 6, "model.decoder_layers": 2, "model.heads": 8},
    **{"training.consistency": 0.0, "training.validation_beam": 0, "training.best_by": "loss"},
}
TUNING = {
    **{"training.consistency": 0.0, "training.validation_beam": 0, "training.best_by": "loss"},
    **{"training.optimizer.schedule": "cosine", "training.final": "best"},
    "training.teacher_weight": 0.0,  # teachers of a distilled student, who would double the time
}
REGARD = (  # `regard`, killed when this script dies, so that nothing holds a run that is continued
    "import sys; from regard.base.processes import die_with_parent; die_with_parent(); "
    "from regard.cli import main; sys.exit(main(sys.argv[1:]))"
)
ENGINES = {"ctranslate2": "ctranslate2", "onnx": "onnxruntime"}  # the module that each needs
SCHEMES = ("none", "int8", "int4")
NAMES = {"none": "float32", "int8": "int8", "int4": "int4"}


class Table:
    """All runs and scores in a folder."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked, self.folder = asked, asked.out
        threads = str(max(1, len(os.sched_getaffinity(0)) // asked.jobs))
        self.environment = {"OMP_NUM_THREADS": threads} | os.environ
        self.running, self.is_stopped, self.lock = set[subprocess.Popen[bytes]](), False, threading.Lock()
        self.missing = dict[str, None]()  # what is not finished and why, once each

    def train_student(self, recipe: str, decoder: str, seed: int) -> Path:
        """Return a student, trained if it is not there."""
        run = self.folder / f"{Path(recipe).stem}-{decoder}-{seed}"
        steps = self.asked.steps
        settings = STUDENT | {
            "training.steps": steps,
            "model.decoder_cell": decoder,
            "training.save_every": max(1, steps // 20),
        }
        settings |= {"training.validate_every": max(1, steps // 2), "training.optimizer.warmup": steps // 10}
        settings["data.prepared"] = self._prepared(Path(recipe).stem)
        return self._trained(run, [recipe, "--seed", str(seed)], settings)

    def tune(self, model: Path, scheme: str) -> Path:
        """Return a model that was tuned with this rounding from another one, on its data."""
        run, steps = self.folder / f"{model.name}-tuned-{scheme}", self.asked.tuning_steps
        settings = TUNING | {"training.quantise": scheme, "training.steps": steps}
        settings |= {"training.validate_every": max(1, steps // 4), "training.save_every": max(1, steps // 4)}
        settings |= {"training.optimizer.warmup": steps // 20, "training.optimizer.learning_rate": self.asked.rate}
        settings["data.prepared"] = self._prepared(model.name)  # by the model's tokenisers, unlike that of its recipe
        return self._trained(run, [str(model / "recipe.toml"), "--from", str(model)], settings)

    def _prepared(self, name: str) -> Path:
        """Return the folder of a prepared corpus that several runs share."""
        return self.folder.resolve() / "prepared" / name

    def _trained(self, run: Path, arguments: Sequence[str], settings: dict[str, Any]) -> Path:
        done = run.with_name(f"{run.name}.done")
        if not done.exists():
            self._refuse_work(run)
            changes = [*(f"{name}={value}" for name, value in settings.items()), *self.asked.set]
            options = [word for change in changes for word in ("--set", change)]
            command = ["-c", REGARD, "train", *arguments, "--out", str(run), "--resume", *options]
            self._run(run, command)
            done.touch()
        return run

    def score(self, model: Path, scheme: str) -> dict[str, Any]:
        """Return the scores of a model that computes with this rounding."""
        scores = self.folder / f"{model.name}.{scheme}.json"
        if not scores.exists():
            self._refuse_work(scores)
            command = [__file__, "--out", str(scores), "--score", str(model), "--scheme", scheme]
            more = ["--lines", str(self.asked.lines)] if self.asked.lines else []
            self._run(self.folder / model.name, [*command, *more])
        found: dict[str, Any] = json.loads(scores.read_text())
        return found

    def _refuse_work(self, missing: Path) -> None:
        if self.asked.table:
            raise RuntimeError(f"{missing} is not finished")

    def _run(self, run: Path, arguments: Sequence[str]) -> None:
        log_file = run.with_name(f"{run.name}.log")
        with log_file.open("a") as log:
            with self.lock:
                if self.is_stopped:
                    raise RuntimeError(f"{run} is not finished; the same command continues")
                process = subprocess.Popen([sys.executable, *arguments], stdout=log, stderr=log, env=self.environment)
                self.running.add(process)
            status = process.wait()
            with self.lock:
                self.running.remove(process)
        if status:
            raise RuntimeError(
                f"{run} is not finished; the same command continues"
                if self.is_stopped
                else f"{run} failed; {log_file} says why"
            )

    def stop(self) -> None:
        """Let all runs save what they have and end, and start no others."""
        with self.lock:
            self.is_stopped = True
            for process in self.running:
                process.terminate()

    def measure(self, student: Future[Path]) -> list[dict[str, Any]]:
        """Return the scores of a model as it is: plain, and rounded unless it has a GRU, which no engine rounds."""
        model = student.result()
        schemes = SCHEMES[:1] if "-gru-" in model.name else SCHEMES
        return self._rows(model, schemes, "not tuned", model)

    def measure_tuned(self, student: Future[Path], scheme: str) -> list[dict[str, Any]]:
        """Return the scores of a model tuned in a scheme; one that was tuned without rounding is rounded afterwards."""
        model = student.result()
        if "-gru-" in model.name:
            return []
        schemes = SCHEMES if scheme == "none" else ("none", scheme)
        return self._rows(model, schemes, f"tuned in {NAMES[scheme]}", self.tune(model, scheme))

    def _rows(self, model: Path, schemes: Sequence[str], tuning: str, tuned: Path) -> list[dict[str, Any]]:
        """Return the rows of a tuned model, without those that failed."""
        rows = []
        for scheme in schemes:
            try:
                rows.append({"model": model.name, "scheme": scheme, "tuning": tuning} | self.score(tuned, scheme))
            except RuntimeError as error:
                self.missing[str(error)] = None
        return rows


def score(folder: Path, scheme: Any, lines: int | None, copies: Path) -> dict[str, Any]:
    """Score a model on its test, with this rounding; in int8, compare its outputs with those of engines."""
    import regard
    from regard.metrics.text import score as score_text
    from regard.verbs.translate.evaluation import from_split

    model: Any = regard.load(folder)
    if scheme != "none":
        model.task.model.round_as(scheme)
    data = from_split(model, folder, "test")
    sources, references = data.sources[:lines], [texts[:lines] for texts in data.references]
    outputs = [output.text for output in model.translate(sources)]
    scores: dict[str, Any] = {metric: score_text(outputs, references, metric).value for metric in ("bleu", "chrf")}
    scores |= {"parameters": model.parameters, "sentences": len(sources)}
    for engine, module in ENGINES.items() if scheme == "int8" else ():
        if importlib.util.find_spec(module):
            theirs = translate_with(engine, folder, sources, copies)
            if theirs:
                same = statistics.mean(our == their for our, their in zip(outputs, theirs, strict=True))
                scores |= {f"{engine} bleu": score_text(theirs, references).value, f"{engine} same": same}
    return scores


def translate_with(engine: Any, folder: Path, sources: Sequence[str], copies: Path) -> list[str]:
    """Return the outputs of an engine's int8 export, which is made in a copy of the model; none if it cannot be."""
    from regard.cli import main as run_command
    from regard.engines.fast import load_fast

    copy = copies / folder.name
    shutil.copytree(folder, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("training"))
    if run_command(["export", str(copy), "--to", engine, "--quantisation", "int8", "--overwrite"]):
        return []
    fast: Any = load_fast(copy, engine)
    return [output.text for output in fast.translations(sources, fast.decoding)]


def table_lines(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a Markdown table; models that differ only in their seed, the end of their name, share a row."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        name = re.sub(r"-\d+$", "", row["model"])
        groups.setdefault((name, row["tuning"], row["scheme"]), []).append(row)
    yield "| model | tuning | computed in | runs | BLEU | chrF | CTranslate2: BLEU, same | onnxruntime: BLEU, same |"
    yield "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for (name, tuning, scheme), members in groups.items():
        scores = [_shown([row[metric] for row in members]) for metric in ("bleu", "chrf")]
        engines = [_engine_cell(members, engine) for engine in ENGINES]
        yield f"| {' | '.join([name, tuning, NAMES[scheme], str(len(members)), *scores, *engines])} |"


def _engine_cell(members: Sequence[dict[str, Any]], engine: str) -> str:
    if any(f"{engine} bleu" not in row for row in members):
        return "–"
    same = statistics.mean(row[f"{engine} same"] for row in members)
    return f"{_shown([row[f'{engine} bleu'] for row in members])}, {same:.1%}"


def _shown(values: Sequence[float]) -> str:
    spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{spread}"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=Path, nargs="*", metavar="MODEL", help="folders of trained translators")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs and scores")
    parser.add_argument("--recipes", nargs="*", default=[], help="recipes on whose data students are trained")
    parser.add_argument("--decoders", nargs="*", default=["attention", "ssru", "gru"], help="decoders of the students")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1], help="seeds of the students")
    parser.add_argument("--steps", type=int, default=4000, help="steps of a student")
    parser.add_argument("--tuning-steps", type=int, default=1000, help="steps of tuning")
    parser.add_argument("--rate", type=float, default=2e-4, help="learning rate of tuning")
    parser.add_argument("--tunings", nargs="*", default=list(SCHEMES), choices=SCHEMES, help="roundings to tune with")
    parser.add_argument("--lines", type=int, help="test sentences, if not all")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="change the recipes of all runs")
    parser.add_argument("--minutes", type=float, help="stop after this time; the same command continues")
    parser.add_argument("--table", action="store_true", help="train and score nothing: the table of what is finished")
    parser.add_argument("--score", type=Path, help="only score this model, and write the scores to --out")
    parser.add_argument("--scheme", choices=SCHEMES, default="none", help="rounding for --score")
    return parser.parse_args()


def main() -> None:
    asked = parse()
    if asked.score:
        die_with_parent()
        write_file(
            asked.out, json.dumps(score(asked.score, asked.scheme, asked.lines, asked.out.parent / "engines")).encode()
        )
        return
    asked.out.mkdir(parents=True, exist_ok=True)
    rows, missing = measure_all(asked)
    write_file(asked.out / "table.json", json.dumps(rows, indent=1).encode())
    print("\n".join(table_lines(rows)))
    print("\n".join(missing), file=sys.stderr)
    sys.exit(1 if missing else 0)


def measure_all(asked: argparse.Namespace) -> tuple[list[dict[str, Any]], list[str]]:
    """Return all rows, and what is missing; students come first, since everything else waits for them."""
    table = Table(asked)
    with ThreadPoolExecutor(asked.jobs) as pool:
        students = [
            pool.submit(table.train_student, recipe, decoder, seed)
            for seed in asked.seeds
            for recipe in asked.recipes
            for decoder in asked.decoders
        ]
        students += [pool.submit(Path, model) for model in asked.models]
        parts = [pool.submit(table.measure, student) for student in students]
        parts += [pool.submit(table.measure_tuned, student, scheme) for student in students for scheme in asked.tunings]
        rows = []
        timer = threading.Timer(60 * asked.minutes, table.stop) if asked.minutes else None
        if timer:
            timer.start()
        try:
            for part in parts:
                try:
                    rows += part.result()
                except RuntimeError as error:
                    table.missing[str(error)] = None
        finally:
            table.stop()
            if timer:
                timer.cancel()
    return rows, list(table.missing)


if __name__ == "__main__":
    main()
