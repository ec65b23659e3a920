"""Score a corpus of pairs, choose, and write what is kept; only scores are held in memory."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.base.files import whole_file
from regard.base.progress import Progress
from regard.data.corpora.options import Corpus
from regard.data.corpora.text import read_pairs
from regard.runs.filtering.choosing import Chosen, Rule, choose
from regard.runs.filtering.criteria import Criterion

_AT_ONCE = 2_000  # pairs


@dataclass(frozen=True)
class Example:
    """A pair near the border, with its scores."""

    source: str
    target: str
    scores: dict[str, float]
    reason: str | None  # None: kept

    def as_dict(self) -> dict[str, Any]:
        return {"source": self.source, "target": self.target, "scores": self.scores, "dropped": self.reason}


@dataclass(frozen=True)
class Filtered:
    """Result of filtering: counts, and the pairs nearest to the border on both sides."""

    read: int
    kept: int
    dropped: dict[str, int]
    worst_kept: list[Example] = field(default_factory=list)
    best_dropped: list[Example] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "kept": self.kept,
            "dropped": self.dropped,
            "worst_kept": [example.as_dict() for example in self.worst_kept],
            "best_dropped": [example.as_dict() for example in self.best_dropped],
        }


def filter_pairs(
    corpus: Corpus,
    criteria: Sequence[Criterion],
    rule: Rule,
    out: Path,
    progress: Progress,
    writes_scores: bool = False,
    examples: int = 3,
) -> Filtered:
    """Write the pairs of a corpus that the rule keeps to `out`, with their scores as further columns if asked for."""
    count = sum(1 for _ in read_pairs(corpus))
    if not count:
        raise Fault(f"{corpus.names[0]} has no pairs.")
    with whole_file(out) as file:  # refused before pairs are scored, which may take hours
        scores, is_empty = _score(corpus, criteria, count, progress)
        chosen = choose(scores, is_empty, rule)
        _refuse_none(chosen, corpus)
        wanted = _near_border(chosen, scores, rule, examples)
        shown: dict[int, Example] = {}
        for number, pair in enumerate(_stripped(corpus)):
            values = {name: float(column[number]) for name, column in scores.items()}
            if number in wanted:
                fate = int(chosen.fates[number])
                shown[number] = Example(*pair, values, None if fate < 0 else chosen.reasons[fate])
            if chosen.fates[number] < 0:
                columns = [*pair, *(f"{value:.6g}" for value in values.values())] if writes_scores else pair
                file.write(("\t".join(columns) + "\n").encode())
            if number % _AT_ONCE == 0:
                progress("writing pairs", number, count)
        progress("writing pairs", count, count)
    found = [shown[number] for number in wanted]
    return Filtered(
        count,
        int(chosen.kept.sum()),
        chosen.counts(),
        [example for example in found if example.reason is None],
        [example for example in found if example.reason is not None],
    )


def _refuse_none(chosen: Chosen, corpus: Corpus) -> None:
    """Refuse a choice that keeps no pair."""
    if not chosen.kept.any():
        why = ", ".join(f"{reason} {dropped:,}" for reason, dropped in chosen.counts().items() if dropped)
        raise Fault(
            f"No pair of {corpus.names[0]} would be left, so nothing is written (dropped: {why}); check the languages "
            "of both sides and the limits."
        )


def _stripped(corpus: Corpus) -> Iterator[tuple[str, str]]:
    for source, target in read_pairs(corpus):
        yield " ".join(source.split()), " ".join(target.split())


def _score(
    corpus: Corpus, criteria: Sequence[Criterion], count: int, progress: Progress
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the scores of all pairs by criterion, and which pairs have an empty side."""
    columns = {criterion.name: array("f") for criterion in criteria}
    for criterion in criteria:
        criterion.fit(lambda: _stripped(corpus), count)
    is_empty, waiting = list[bool](), _stripped(corpus)
    while portion := list(islice(waiting, _AT_ONCE)):
        is_full = [bool(source and target) for source, target in portion]
        full = [pair for pair, has_both in zip(portion, is_full, strict=True) if has_both]
        for criterion in criteria:
            values = iter(criterion.score(full) if full else [])
            columns[criterion.name].extend(next(values) if has_both else -np.inf for has_both in is_full)
        is_empty += [not has_both for has_both in is_full]
        progress("scoring pairs", len(is_empty), count)
    return {name: np.array(column, np.float64) for name, column in columns.items()}, np.array(is_empty)


def _near_border(chosen: Chosen, scores: dict[str, np.ndarray], rule: Rule, count: int) -> list[int]:
    """Return the numbers of the worst pairs that are kept, then of the best that are dropped by a score."""
    kept = np.flatnonzero(chosen.kept)
    scored = np.flatnonzero(~chosen.kept & np.all([np.isfinite(column) for column in scores.values()], axis=0))
    worst = kept[np.argsort(chosen.rank[kept], kind="stable")[:count]]
    best = scored[np.argsort(-chosen.rank[scored], kind="stable")[:count]]
    return [*worst.tolist(), *best.tolist()]
