"""Lessons for a student: the teacher's translations of a text, and which of them become targets.

Everything is in the folder `teaching` of the run. A file is either complete or absent, and translations grow in shards
that survive a kill, so that a run that was cut continues where it was.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, TypeVar

import torch

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.processes import cores, map_in_order
from regard.base.progress import Progress, Remark
from regard.console.lines import TextInput
from regard.data.lines import read_lines
from regard.metrics.utilities import utility
from regard.runs.distil.plan import teaching_plan
from regard.runs.distil.request import DistilRequest, Teacher
from regard.runs.distil.texts import TaughtFiles, write_sides, write_text
from regard.verbs.translate.bulk.finishing import BulkJob, finish_here, join
from regard.verbs.translate.bulk.shards import cut_into_shards, number_of_shards, remove_shards, shard_folder
from regard.verbs.translate.bulk.workers import finish_shards
from regard.verbs.translate.line_translator import LineJob
from regard.verbs.translate.request import TranslateRequest
from regard.verbs.translate.unfinished import hold_output

Item = TypeVar("Item")
NEARNESS = "chrf"  # how near an output is to its reference
CHOSEN_AT_ONCE = 2_000  # pairs that one process chooses targets for at once
FEW = 20_000  # pairs for which no worker process is worth starting


@dataclass(frozen=True)
class Teaching:
    """The folder of what a run is taught."""

    folder: Path

    @property
    def translations(self) -> Path:
        return self.folder / "translations.txt"

    @property
    def train(self) -> tuple[Path, Path]:
        """Files of the pairs that the student learns from."""
        return self.folder / "train.source", self.folder / "train.target"

    @property
    def texts(self) -> TaughtFiles:
        return TaughtFiles.within(self.folder)

    @property
    def valid(self) -> tuple[Path, Path] | None:
        """Validation pairs that the teacher's run had held out, if it did."""
        files = self.texts.valid
        return files if all(file.exists() for file in files) else None


def teach(
    request: DistilRequest, teachers: Sequence[Teacher], teaching: Teaching, progress: Progress, remark: Remark
) -> None:
    """Write the pairs that the student learns from, unless that was done."""
    if teaching.train[0].exists():
        return
    texts = teaching.texts
    write_text(request, teachers[0], texts, progress, remark)
    if request.candidates:
        _translate(request, teachers, teaching, progress, remark)
    targets = {
        "best": _best_pairs,
        "n-best": _best_pairs,
        "nearest": _nearest_pairs,
        "reference": _reference_pairs,
    }[request.targets]
    pairs = targets(teaching, request.candidates, progress)
    first = next(pairs, None)
    if first is None:
        what = f"outputs of {teachers[0].folder}" if request.candidates else "references"
        raise Fault(f"All {what} are empty, so there is nothing to teach.")
    # The sources appear last, once both files are complete.
    write_sides(teaching.train, chain([first], pairs))


# Translating


def _translate(
    request: DistilRequest, teachers: Sequence[Teacher], teaching: Teaching, progress: Progress, remark: Remark
) -> None:
    """Let the teachers translate every source in shards; those that are done are kept."""
    out, source = teaching.translations, teaching.texts.sources
    if out.exists():
        return
    on_gpu = torch.cuda.is_available()
    workers = request.workers or (1 if on_gpu else cores())
    job = BulkJob(_line_job(request, teachers, source, on_gpu), _asked(request, teachers), shard_folder(out))
    with hold_output(out):
        shards = cut_into_shards(source, number_of_shards(job.folder))
        job.folder.mkdir(exist_ok=True)
        if workers == 1:
            finish_here(job, shards, progress)
        else:
            finish_shards(job, shards, workers, progress).remark()
        join(job, shards, out, progress)
        remove_shards(job.folder)
    who = quantity(len(teachers), "teacher")
    remark(f"{who} wrote {quantity(request.candidates, 'translation')} of each sentence, in {out}")


def _line_job(request: DistilRequest, teachers: Sequence[Teacher], source: Path, on_gpu: bool) -> LineJob:
    count, decoding = request.candidates, teachers[0].recipe.decoding
    precision: Literal["bf16", "float32"] = "bf16" if on_gpu else "float32"
    table: dict[str, Any] = {
        "text": [],
        "n_best": count,
        "beam": max(count, request.beam or decoding.beam),
        "with": [str(teacher.folder.resolve()) for teacher in teachers[1:]],
        "engine": "torch" if on_gpu or len(teachers) > 1 else "auto",
        "split_sentences": False,
        "too_long": "refuse",
        "explain": False,
    }
    return LineJob(teachers[0].folder.resolve(), TranslateRequest.read(table), precision, TextInput(file=source))


def _asked(request: DistilRequest, teachers: Sequence[Teacher]) -> dict[str, Any]:
    return teaching_plan(request, teachers).model_dump(exclude={"tokens"})


# Choosing targets


def _best_pairs(teaching: Teaching, count: int, progress: Progress) -> Iterator[tuple[str, str]]:
    """Yield each source with each of its translations, which are not empty."""
    candidates = _groups(read_lines(teaching.translations), count)
    for source, outputs in zip(read_lines(teaching.texts.sources), candidates, strict=True):
        yield from ((source, output) for output in outputs if output.strip())


def _reference_pairs(teaching: Teaching, count: int, progress: Progress) -> Iterator[tuple[str, str]]:
    sources, targets = teaching.texts.pairs
    yield from zip(read_lines(sources), read_lines(targets), strict=True)


def _nearest_pairs(teaching: Teaching, count: int, progress: Progress) -> Iterator[tuple[str, str]]:
    """Yield each source with the translation that is nearest to its reference; the better one of equals."""
    candidates = _groups(read_lines(teaching.translations), count)
    of_source = dict(zip(read_lines(teaching.texts.sources), candidates, strict=True))
    references = list(_reference_pairs(teaching, count, progress))
    chunks = (
        [(source, reference, of_source[source]) for source, reference in chunk]
        for chunk in _groups(references, CHOSEN_AT_ONCE)
    )
    workers = 0 if len(references) <= FEW else cores()
    with closing(map_in_order(partial(nearest, metric=NEARNESS), chunks, workers)) as parts:
        for number, part in enumerate(parts, 1):
            progress("choosing targets", min(number * CHOSEN_AT_ONCE, len(references)), len(references))
            yield from part


def _groups(items: Iterable[Item], size: int) -> Iterator[tuple[Item, ...]]:
    """Yield the items in groups of this size; the last may be smaller."""
    iterator = iter(items)
    while group := tuple(islice(iterator, size)):
        yield group


def nearest(rows: Sequence[tuple[str, str, Sequence[str]]], metric: str) -> list[tuple[str, str]]:
    """Return sources with those of their candidates that score best against the reference; the first of equals."""
    worth: Callable[[Sequence[str], Sequence[str]], list[float]] = utility(metric)
    flat = [(candidate, reference) for _, reference, candidates in rows for candidate in candidates]
    scores = iter(worth([candidate for candidate, _ in flat], [reference for _, reference in flat]))
    pairs = []
    for source, _, candidates in rows:
        scored = [(next(scores), -place) for place in range(len(candidates))]
        best = candidates[-max(scored)[1]]
        if best.strip():
            pairs.append((source, best))
    return pairs
