"""Classes of texts by every family and every input, as the tables of docs/ledger.md.

    .venv/bin/python benchmarks/classes.py [SET…] [--jobs N] [--device cuda] [--vectors DIR] [--contexts DIR]
                                           [--bert DIR]

The sets are trec, sst2, movie-reviews, aspects-restaurants and aspects-laptops, by the recipes of these names, and for
tags conll2000. Each row of a table has several settings to choose from: each is trained once (of movie-reviews, on
three folds), the best on validation data is trained with all seeds or on all folds, and only that is scored on the
test. DIR of `--vectors` has word2vec.txt.gz, glove.txt.gz and fasttext.txt.gz, and for aspects reviews.txt.gz, which
`regard export` makes of models of words; that of `--contexts` is the folder of a model of the family bilm, that of
`--bert` of one that the recipe bert-english trains. Rows whose inputs are not there are left out. Finished runs are
found again, so that a stopped table can be gone on with; `--report` scores those that are there and trains none,
`--only` takes a row by its name, and `--most-steps 2` tries all of it quickly.
"""

import argparse
import json
import statistics
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from regard.base.files import write_file
from regard.base.progress import silent
from regard.base.recipe import apply_settings, read_table
from regard.metrics.significance import Sums, difference
from regard.runs.kept_scores import read_scores

RECIPES = Path(__file__).parents[1] / "regard" / "recipes"
MEASURES = ("accuracy", "f1")
SEEDS = tuple(f"seed={number}" for number in range(1, 6))
BERT_RATES = (1e-4, 3e-4, 1e-3)
VECTORS = ("word2vec", "glove", "fasttext")
POOLINGS = ("attention", "max")
ASPECT_NETS = {  # what is tried of each kind
    "attention": ("pooling='attention',aspect='both'", "pooling='attention',aspect='both',near=4.0"),
    "both ends": ("pooling='aspect',aspect='place'", "pooling='aspect',aspect='inputs'"),
}
Settings = tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """A row of a table: the settings to choose from, and the file or folder that it needs."""

    name: str
    choices: tuple[Settings, ...]
    needs: Path | None = None
    repeats: tuple[str, ...] = ()  # what differs between its runs, if not what differs in the other rows


@dataclass(frozen=True)
class Places:
    """Where things lie, and how far training goes."""

    out: Path
    vectors: Path
    contexts: Path | None
    bert: Path | None
    most_steps: int | None
    device: str
    only: tuple[str, ...]  # the names of some rows; none: all


def bags() -> Row:
    """Bags of words and pairs of words, with naive Bayes or without."""
    training = (
        "training.optimizer.learning_rate=0.02",
        "training.optimizer.schedule=linear",
        "training.final=last",
        "training.patience=0",
    )
    return Row(
        "bag",
        tuple(
            ("family=bag", f"model={{naive_bayes={bayes},l2={l2}}}", *training)
            for bayes, l2 in (("false", "1e-5"), ("false", "1e-4"), ("true", "1e-4"), ("true", "1e-3"))
        ),
    )


def networks(places: Places) -> Iterable[Row]:
    """Averages and recurrent nets on random and on ready vectors, features of a language model, and an encoder."""
    yield Row("averaging, random", tuple(_average(f"{{width=200,dropout={drop}}}") for drop in (0.3, 0.5)))
    for name in VECTORS:
        ready = _from(places, name)
        both = tuple((*_average(f"{{vectors='both',dropout={drop}}}"), ready) for drop in (0.3, 0.5))
        yield Row(f"averaging, {name}", both, places.vectors / f"{name}.txt.gz")
    yield Row("rnn, random", tuple(_rnn("{width=200,dropout=0.5}", pooling) for pooling in POOLINGS))
    for name in VECTORS:
        ready = _from(places, name)
        both = tuple((*_rnn("{vectors='both',dropout=0.5}", pooling), ready) for pooling in POOLINGS)
        yield Row(f"rnn, {name}", both, places.vectors / f"{name}.txt.gz")
    if places.contexts is not None:
        contexts = f"data.contexts={places.contexts}"
        features = tuple((*_rnn("{vectors='none',dropout=0.5}", pooling), contexts) for pooling in POOLINGS)
        yield Row("rnn, bidirectional language model", features, places.contexts)
    encoders = tuple(
        (
            "family=encoder",
            f"model={{width=256,layers=1,feed_forward=512,dropout=0.4,pooling='{pooling}',inputs={{width=200,dropout=0.4}}}}",
            f"training.optimizer.learning_rate={rate}",
            "training.optimizer.warmup=100",
        )
        for pooling in POOLINGS
        for rate in (0.0003, 0.0007)
    )
    yield Row("encoder, random", encoders)


def berts(name: str, places: Places) -> Iterable[Row]:
    """A BERT that was trained on masked words before, and the same network from scratch, by the recipe NAME-bert."""
    # That model has not read the test and the validation part of fold 0, and may have read those of others.
    repeats = SEEDS if name == "movie-reviews" else ()
    choices = tuple((f"recipe={name}-bert", f"training.optimizer.learning_rate={rate}") for rate in BERT_RATES)
    if places.bert is not None:
        yield Row("bert", tuple((*each, f"start_from={places.bert}") for each in choices), places.bert, repeats)
    yield Row("bert, from scratch", choices, repeats=repeats)


def of_aspects(places: Places) -> Iterable[Row]:
    """A net that does not know the aspect, nets that it guides, and nets that read up to it from both ends."""
    random, ready = "{width=200,dropout=0.5}", "{vectors='both',dropout=0.5}"
    file = places.vectors / "reviews.txt.gz"
    yield Row("aspect ignored, random", (_of_aspect(random, "pooling='attention'"),))
    for name, inputs, needs in (("random", random, None), ("word2vec", ready, file)):
        further = () if needs is None else (f"data.vectors={needs}",)
        for kind, models in ASPECT_NETS.items():
            choices = tuple((*_of_aspect(inputs, model), *further) for model in models)
            yield Row(f"{kind}, {name}", choices, needs)


def of_documents() -> Row:
    """Bags of words and pairs of words for long texts."""
    choices = (("false", "1e-3"), ("false", "1e-2"), ("true", "1e-3"), ("true", "1e-2"))
    return Row("bag", tuple((f"model={{naive_bayes={bayes},l2={l2}}}",) for bayes, l2 in choices))


def _average(inputs: str) -> Settings:
    return "family=averaging", f"model={{inputs={inputs}}}", "training.optimizer.learning_rate=0.003"


def _rnn(inputs: str, pooling: str) -> Settings:
    model = f"model={{pooling='{pooling}',inputs={inputs}}}"
    return "family=rnn", model, "training.optimizer.learning_rate=0.002"


def _of_aspect(inputs: str, model: str) -> Settings:
    return "family=rnn", f"model={{{model},inputs={inputs}}}"


def _from(places: Places, name: str) -> str:
    return f"data.vectors={places.vectors / f'{name}.txt.gz'}"


def rows_of(name: str, places: Places) -> list[Row]:
    """The rows of a set's table, those left out whose inputs are not there."""
    found: list[Row]
    if name == "movie-reviews":
        found = [of_documents(), *berts(name, places)]
    elif name == "conll2000":
        found = [Row("rnn", ((),)), Row("encoder", (("recipe=conll2000-encoder",),)), *berts(name, places)]
    elif name.startswith("aspects"):
        found = list(of_aspects(places))
    else:
        found = [bags(), *networks(places), *berts(name, places)]
    return [
        row
        for row in found
        if (row.needs is None or row.needs.exists()) and (not places.only or row.name in places.only)
    ]


def repeats_of(name: str) -> list[str]:
    """What differs between the runs that are averaged: the fold or the seed."""
    return [f"data.fold={fold}" for fold in range(10)] if name == "movie-reviews" else list(SEEDS)


def recipe_of(name: str, settings: Settings, repeat: str, places: Places) -> dict[str, Any]:
    """The recipe of one run, as a table; a setting `recipe=NAME` says which one it is, if not that of the set."""
    named = dict(setting.split("=", 1) for setting in settings).get("recipe", name)
    others = [setting for setting in settings if not setting.startswith("recipe=")]
    table = read_table(RECIPES / f"{named}.toml")
    table["data"].pop("vectors", None)  # a row says itself which ones it begins with
    table = apply_settings(table, [*others, repeat])
    table["training"]["device"] = "cpu" if table["family"] == "bag" else places.device
    if places.most_steps is not None:
        table["training"] |= {"steps": places.most_steps, "validate_every": places.most_steps}
    return table


@dataclass(frozen=True)
class Job:
    """A run that is to be there: its recipe as a table, and its folder."""

    table: dict[str, Any]
    folder: Path


def job_of(name: str, row: Row, choice: int, repeat: str, places: Places) -> Job:
    folder = places.out / name / row.name.replace(", ", "-").replace(" ", "-") / f"{choice}-{repeat.partition('=')[2]}"
    return Job(recipe_of(name, row.choices[choice], repeat, places), folder)


def do(job: Job) -> None:
    """Train a run, unless it is finished."""
    import torch

    from regard.runs.open import is_finished, open_run
    from regard.runs.parents import resolve
    from regard.runs.train import train
    from regard.training.checkpoint import RunFolder

    torch.set_num_threads(1)
    recipe = resolve(job.table)
    if not is_finished(recipe, RunFolder(job.folder)):
        train(open_run(recipe, job.folder, True, silent, lambda text: None), [])


def is_done(job: Job) -> bool:
    """Whether a run is trained to its end."""
    from regard.training.checkpoint import RunFolder

    facts = RunFolder(job.folder).facts() if job.folder.exists() else None
    return facts is not None and facts.finished


def validated(job: Job) -> float:
    """The accuracy of a run on its validation data, or the measure by which its weights were chosen."""
    measure = job.table["training"].get("best_by", MEASURES[0])
    return next(score["value"] for score in read_scores(job.folder) if score["metric"] == measure)


def tested(job: Job) -> dict[str, Sums]:
    """What each text of the test adds to the measures of a run."""
    from regard.model import load
    from regard.runs.evaluate import sums_on

    return sums_on(load(job.folder, device=job.table["training"]["device"]), job.folder, "test", MEASURES, silent)


def table_of(name: str, places: Places, pool: ProcessPoolExecutor, trains: bool) -> list[dict[str, Any]]:
    """Choose the settings of each row on validation data, train those with all seeds, and score them."""
    rows = rows_of(name, places)
    repeats = {row: row.repeats or repeats_of(name) for row in rows}
    tried = {row: repeats[row][: 3 if repeats[row][0].startswith("data.fold") else 1] for row in rows}
    make = partial(job_of, name, places=places)
    trials = {
        row: [[make(row, choice, repeat) for repeat in tried[row]] for choice in range(len(row.choices))]
        for row in rows
    }
    if trains:
        list(pool.map(do, [job for of_row in trials.values() for jobs in of_row for job in jobs]))
    rows = [row for row in rows if all(is_done(job) for jobs in trials[row] for job in jobs)]
    means = {row: [statistics.fmean(map(validated, jobs)) for jobs in trials[row]] for row in rows}
    best = {row: max(range(len(found)), key=found.__getitem__) for row, found in means.items()}
    if trains:  # the first repeat of all rows, then the second: whenever it is stopped, rows have about as many
        in_turns = [(row, own[turn]) for turn in range(10) for row, own in repeats.items() if turn < len(own)]
        list(pool.map(do, [make(row, best[row], repeat) for row, repeat in in_turns if row in best]))
    jobs = {
        row: {repeat: job for repeat in repeats[row] if is_done(job := make(row, best[row], repeat))} for row in rows
    }
    sums = {row: dict(zip(own, pool.map(tested, own.values()), strict=True)) for row, own in jobs.items()}
    return [
        {
            "row": row.name,
            "settings": row.choices[best[row]],
            "validation": means[row],
            "validation of all": [validated(job) for job in jobs[row].values()],
            **{measure: [each[measure].value() for each in sums[row].values()] for measure in MEASURES},
            "against the first": None if row is rows[0] else against(sums[rows[0]], sums[row], measure_of(name)),
        }
        for row in rows
    ]


def measure_of(name: str) -> str:
    """The measure by which rows of a set are compared."""
    return "f1" if name == "conll2000" else "accuracy"


def against(
    first: dict[str, dict[str, Sums]], own: dict[str, dict[str, Sums]], measure: str
) -> dict[str, float] | None:
    """How far a row is above the first, over the runs that both have, and by what luck; None if they have none."""
    common = [repeat for repeat in own if repeat in first]
    if not common:
        return None
    theirs, ours = ([side[repeat][measure] for repeat in common] for side in (first, own))
    found = difference(theirs, ours)
    return {"value": found.value, "p": found.randomisation}


def lines_of(name: str, table: Sequence[dict[str, Any]]) -> list[str]:
    """A table in Markdown; values in percent."""
    columns = ["model", "runs", "validation", "accuracy", "F1", "against the first"]
    lines = [name, "", f"| {' | '.join(columns)} |", f"| {' | '.join(['---'] * len(columns))} |"]
    for row in table:
        apart = "–"
        if found := row["against the first"]:
            apart = f"{100 * found['value']:+.1f}, p = {found['p']:.4f}"
        shown = [_shown(row[name]) for name in ("validation of all", *MEASURES)]
        lines.append(f"| {row['row']} | {len(row['accuracy'])} | {' | '.join(shown)} | {apart} |")
    return [*lines, ""]


def _shown(values: Sequence[float]) -> str:
    return f"{100 * statistics.fmean(values):.1f} ± {100 * (max(values) - min(values)):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=["trec", "sst2", "movie-reviews"])
    parser.add_argument("--out", type=Path, default=Path("runs/classes"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--vectors", type=Path, default=Path("runs/vectors"))
    parser.add_argument("--contexts", type=Path)
    parser.add_argument("--bert", type=Path)
    parser.add_argument("--most-steps", type=int)
    parser.add_argument("--only", action="append", default=[], metavar="ROW")
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    only = tuple(given.only)
    places = Places(given.out, given.vectors, given.contexts, given.bert, given.most_steps, given.device, only)
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        for name in given.sets:
            table = table_of(name, places, pool, trains=not given.report)
            write_file(places.out / f"{name}.json", json.dumps(table, indent=1).encode())
            print("\n".join(lines_of(name, table)), flush=True)


if __name__ == "__main__":
    main()
