"""A model of short sentences learns long ones: what it gains, and what it forgets, as the table in docs/ledger.md.

    .venv/bin/python benchmarks/fine_tune.py [--out DIR] [--jobs N] [--seeds N] [--most-steps N]

The data set is `tatoeba-en-pt`. A pair is short if neither side has more than 8 words, and long if both have more. A
parent is trained on all short pairs of the training set but those held out; children start from it on 1,000, 5,000 and
20,000 long ones, as `regard train --pairs NEW --from PARENT` chooses their training: plainly, with a fifth of old text,
with frozen embeddings, and with a frozen encoder; others learn the same long pairs from scratch. All are scored on long
and on short pairs of the official test, none of whose sentences is learnt. Finished runs and scores are found again, so
that a stopped table can be gone on with. `--most-steps 2 --short 600 --sizes 100 --scored 3` tries all of it in a few
minutes on two cores.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from regard.base.files import write_file
from regard.data.corpora.hashes import fold
from regard.data.corpora.options import Corpus
from regard.data.corpora.text import read_pairs

TRAIN, TEST = "tatoeba-en-pt:eng-por.train.tsv.gz", "tatoeba-en-pt:eng-por.test-v2021-08-07.tsv.gz"
WORDS = 8  # of the longer side of a short pair
VALIDATED, TESTED = 500, 1500  # pairs of a kind, at most
KINDS = ("long", "short")
OLD_SHARE = 0.2
PARENT = {"model.preset": "small", "training.steps": 3000}  # the size and the steps; the rest is chosen by its text
STEPS_FROM_NOTHING = {1_000: 1_000, 5_000: 2_000, 20_000: 3_000}

Pair = tuple[str, str]


@dataclass(frozen=True)
class Way:
    """A way to learn long pairs: what it is called, and the options that it adds."""

    name: str
    options: tuple[str, ...] = ()
    has_parent: bool = True


WAYS = (
    Way("from scratch", has_parent=False),
    Way("from the parent"),
    Way(f"from the parent, {OLD_SHARE:.0%} old text", ("--old-share", str(OLD_SHARE))),
    Way("from the parent, embeddings frozen", ("--set", "training.freeze=['embeddings']")),
    Way("from the parent, encoder frozen", ("--set", "training.freeze=['encoder']")),
)


def cut(folder: Path, short: int | None, sizes: Sequence[int], scored: int) -> None:
    """Write the files of pairs, always the same for the same numbers."""
    validated, tested = min(VALIDATED, scored), min(TESTED, scored)
    tests = {kind: pairs[:tested] for kind, pairs in _by_kind(read_pairs(Corpus(pairs=TEST)), seed=1).items()}
    known = {fold(sentence) for pair in read_pairs(Corpus(pairs=TEST)) for sentence in pair}
    new = ((a.strip(), b.strip()) for a, b in read_pairs(Corpus(pairs=TRAIN)))
    train = _by_kind((pair for pair in new if known.isdisjoint(map(fold, pair))), seed=2)
    files = {f"test-{kind}": pairs for kind, pairs in tests.items()}
    files |= {f"valid-{kind}": pairs[:validated] for kind, pairs in train.items()}
    files["short"] = train["short"][validated:][:short]
    files |= {f"long-{size}": train["long"][validated : validated + size] for size in sizes}
    for name, pairs in files.items():
        write_file(folder / f"{name}.tsv", "".join(f"{a}\t{b}\n" for a, b in pairs).encode())
    for kind, pairs in tests.items():
        for side, language in enumerate(("en", "pt")):
            write_file(folder / f"test-{kind}.{language}", "".join(f"{pair[side]}\n" for pair in pairs).encode())


def _by_kind(pairs: Iterable[Pair], seed: int) -> dict[str, list[Pair]]:
    """The short and the long ones, each once, in an order of chance; those that are neither are left out."""
    found: dict[str, dict[Pair, None]] = {kind: {} for kind in KINDS}
    for pair in pairs:
        words = sorted(len(sentence.split()) for sentence in pair)
        if words[1] <= WORDS or words[0] > WORDS:
            found["short" if words[1] <= WORDS else "long"][pair] = None
    shuffled = {kind: list(own) for kind, own in found.items()}
    for own in shuffled.values():
        random.Random(seed).shuffle(own)
    return shuffled


class Table:
    """The runs of the table in a folder, and what each scored."""

    def __init__(self, folder: Path, most_steps: int | None, jobs: int) -> None:
        self.folder, self.most_steps = folder, most_steps
        threads = str(max(1, len(os.sched_getaffinity(0)) // jobs))
        self.environment = {"OMP_NUM_THREADS": threads} | os.environ if jobs > 1 else dict(os.environ)

    def parent(self, seed: int) -> Path:
        return self.folder / f"parent-seed-{seed}"

    def train_parent(self, seed: int) -> dict[str, float]:
        settings = [f"{name}={value}" for name, value in PARENT.items()]
        test = json.dumps([{"pairs": str(self.folder.resolve() / f"test-{kind}.tsv")} for kind in KINDS])
        changes = [word for each in [*settings, f"data.test={_toml(test)}"] for word in ("--set", each)]
        return self._trained(self.parent(seed), "short", "valid-short", seed, changes)

    def train_child(self, way: Way, size: int, seed: int, parent: Future[dict[str, float]]) -> dict[str, float]:
        run = self.folder / f"{way.name.replace(' ', '-').replace(',', '').replace('%', '')}-{size}-seed-{seed}"
        options = list(way.options)
        if way.has_parent:
            parent.result()
            options += ["--from", str(self.parent(seed))]
        elif size in STEPS_FROM_NOTHING:
            options += ["--set", f"training.steps={STEPS_FROM_NOTHING[size]}"]
        return self._trained(run, f"long-{size}", "valid-long", seed, options)

    def _trained(self, run: Path, text: str, valid: str, seed: int, options: Sequence[str]) -> dict[str, float]:
        """The BLEU of a run on both kinds; it is trained if it is not there."""
        scores = run.with_suffix(".json")
        if scores.is_file():
            return dict(json.loads(scores.read_text()))
        files = ["--pairs", f"{self.folder / text}.tsv", "--valid-pairs", f"{self.folder / valid}.tsv"]
        brief = []
        if self.most_steps is not None:
            names = ("steps", "validate_every", "save_every")
            brief = [word for name in names for word in ("--set", f"training.{name}={self.most_steps}")]
        languages = ["--languages", "en-pt", "--seed", str(seed), "--out", str(run), "--resume"]
        self._regard(run, "train", *files, *languages, *options, *brief)
        found = {}
        for kind in KINDS:
            source, target = (f"{self.folder / f'test-{kind}'}.{language}" for language in ("en", "pt"))
            said = self._regard(run, "evaluate", str(run), "--source", source, "--reference", target, "--json")
            found[kind] = next(each["value"] for each in json.loads(said)["scores"] if each["metric"] == "bleu")
        write_file(scores, json.dumps(found).encode())
        print(f"{run.name}: {', '.join(f'{kind} {value:.1f}' for kind, value in found.items())}", file=sys.stderr)
        return found

    def _regard(self, run: Path, *arguments: str) -> str:
        """What a command prints; all else that it says is in a file beside the run."""
        with run.with_suffix(".log").open("a") as log:
            command = [sys.executable, "-m", "regard", *arguments]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, env=self.environment)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed; {run.with_suffix('.log')} says why.")
        return done.stdout


def _toml(text: str) -> str:
    """A list of objects in JSON as TOML has it on one line."""
    return text.replace('": ', '" = ')


def _shown(values: Sequence[float]) -> str:
    spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{spread}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("runs/fine-tune"), help="folder of the runs")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each kind")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 5_000, 20_000], help="long pairs to learn")
    parser.add_argument("--short", type=int, help="short pairs of the parent, if not all")
    parser.add_argument("--scored", type=int, default=TESTED, help="pairs of a kind to score on")
    parser.add_argument("--most-steps", type=int, help="steps of every run, to try it out")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    cut(given.out, given.short, given.sizes, given.scored)
    table, seeds = Table(given.out, given.most_steps, given.jobs), range(1, given.seeds + 1)
    with ThreadPoolExecutor(given.jobs) as pool:
        # Those that others wait for come first, then those that wait for nobody.
        parents = {seed: pool.submit(table.train_parent, seed) for seed in seeds}
        children = {
            (size, way, seed): pool.submit(table.train_child, way, size, seed, parents[seed])
            for way in WAYS
            for size in reversed(given.sizes)
            for seed in seeds
        }
    print("| long pairs | learnt | BLEU on long | BLEU on short |\n| --- | --- | --- | --- |")
    rows = [("–", "the parent", [parents[seed].result() for seed in seeds])]
    for size in given.sizes:
        rows += [(f"{size:,}", way.name, [children[size, way, seed].result() for seed in seeds]) for way in WAYS]
    for size, name, found in rows:
        print(f"| {size} | {name} | {' | '.join(_shown([each[kind] for each in found]) for kind in KINDS)} |")


if __name__ == "__main__":
    main()
