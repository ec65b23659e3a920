"""Cleaning of a training corpus: which pairs are kept, dropped and why, or held out for validation."""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from regard.base.faults import Fault
from regard.base.figures import shorten
from regard.data.corpora.hashes import HashedPairs, hash_folded
from regard.data.corpora.options import Cleaning
from regard.data.corpora.shards import SIDES
from regard.data.tokenisers.spelling import Spelling, spellings_line

_HELD_OUT_SHARE = 0.05
_SAMPLE = 500_000  # pairs
_RATIO_GRACE = 5


class Fate(IntEnum):
    """Fate of a training pair, as far as its text decides it."""

    KEPT = 0
    SAMPLED = 1  # kept, and the tokeniser learns from it
    HELD_OUT = 2
    EMPTY = 3
    DUPLICATE = 4
    LEAKED = 5


TOO_LONG = "too long"
UNEVEN = "too uneven in length"
REASONS = {Fate.EMPTY: "empty", Fate.DUPLICATE: "duplicate", Fate.LEAKED: "shared with validation or test"}


def learnt_mask(fates: np.ndarray) -> np.ndarray:
    """Return a mask of the training pairs that are kept."""
    return np.isin(fates, (Fate.KEPT, Fate.SAMPLED))


def judge(
    hashes: HashedPairs,
    elsewhere: np.ndarray,
    cleaning: Cleaning,
    hold_out: int,
    may_validate: np.ndarray | None = None,
) -> np.ndarray:
    """Return the fate of each training pair; `elsewhere` holds the hashes of validation and test sentences.

    With `hold_out` above 0, that many pairs are held out, from all or from those that `may_validate` marks. They then
    count as validation data that must not leak.
    """
    fates = np.full(len(hashes), Fate.KEPT, np.uint8)
    _mark(fates, hashes.rows_with(SIDES, hash_folded([""])), Fate.EMPTY)
    if cleaning.duplicates:
        for rows, pairs in hashes.ranges("pair"):
            firsts = np.unique(pairs, return_index=True)[1]
            _mark(fates, np.delete(rows, firsts), Fate.DUPLICATE)
    if cleaning.leakage:
        _mark(fates, hashes.rows_with(SIDES, elsewhere), Fate.LEAKED)
    if hold_out and (fates == Fate.KEPT).any():
        free = fates == Fate.KEPT
        if may_validate is not None:
            free &= may_validate
        held_out = _held_out(hashes, free, hold_out)
        fates[held_out.rows] = Fate.HELD_OUT
        if cleaning.leakage:
            _mark(fates, hashes.rows_with(SIDES, held_out.sentences), Fate.LEAKED)
    _mark(fates, _sample(hashes, fates == Fate.KEPT), Fate.SAMPLED)
    return fates


def _mark(fates: np.ndarray, rows: np.ndarray, fate: Fate) -> None:
    fates[rows[fates[rows] == Fate.KEPT]] = fate


class _HeldOut(NamedTuple):
    rows: np.ndarray
    sentences: np.ndarray  # hashes of both sides, in order


def _held_out(hashes: HashedPairs, free: np.ndarray, count: int) -> _HeldOut:
    """Hold out the pairs whose source sentence has one of the smallest hashes: random, but always the same.

    Pairs with equal source sentences stay together, so a sentence with too many pairs is skipped. Pairs that share
    their translation with others come last, since holding them out removes all those others from training.
    """
    is_shared = np.zeros(len(free), bool)  # True if other pairs have the same translation
    for rows, targets in hashes.ranges("target", free):
        _, group, repeats = np.unique(targets, return_inverse=True, return_counts=True)
        is_shared[rows] = repeats[group] > 1
    distinct, smallest = 0, len(free)
    for sources in _free_sources(hashes, free, is_shared):
        distinct += len(sources.hashes)
        smallest = min(smallest, int(sources.sizes.min(initial=smallest)))
        if distinct > 1 and smallest == 1:
            break
    if distinct < 2:
        pairs = int(free.sum())
        few = f"All {pairs} training pairs share their source sentence, so there are too few"
        if pairs < 2:
            few = f"There are too few training pairs ({pairs} after cleaning)"
        raise Fault(
            f"{few} to hold some out for validation; "
            "give a validation set (--valid-source and --valid-target, --valid-pairs, or data.valid in a recipe)."
        )
    most = max(smallest, min(count, int(free.sum() * _HELD_OUT_SHARE)))
    chosen = _smallest_sources(hashes, free, is_shared, most)
    rows = hashes.rows_with(["source"], chosen)
    rows = rows[free[rows]]
    return _HeldOut(rows, np.unique(np.concatenate([chosen, hashes.take("target", rows)])))


class _Sources(NamedTuple):
    """Source sentences in order of their hashes."""

    hashes: np.ndarray
    sizes: np.ndarray  # number of pairs with each
    are_shared: np.ndarray  # True if one of its translations occurs in other pairs


def _free_sources(hashes: HashedPairs, free: np.ndarray, is_shared: np.ndarray) -> Iterator[_Sources]:
    for rows, values in hashes.ranges("source", free):
        sources, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
        shared = np.bincount(group, weights=is_shared[rows], minlength=len(sources)) > 0
        yield _Sources(sources, sizes, shared)


def _smallest_sources(hashes: HashedPairs, free: np.ndarray, is_shared: np.ndarray, most: int) -> np.ndarray:
    """Return the hashes, in order, of the first source sentences that have at most `most` pairs in all."""
    chosen, left = list[np.ndarray](), most
    for shared in (False, True):
        for sources in _free_sources(hashes, free, is_shared):
            fitting = (sources.sizes <= most) & (sources.are_shared == shared)
            ends = np.cumsum(sources.sizes[fitting])
            chosen.append(sources.hashes[fitting][ends <= left])
            if len(chosen[-1]) < len(ends):
                return np.sort(np.concatenate(chosen))
            left -= int(ends[-1]) if len(ends) else 0
    return np.sort(np.concatenate(chosen))


def _sample(hashes: HashedPairs, kept: np.ndarray) -> np.ndarray:
    """Return the pairs the tokeniser learns from: all, or those with the smallest hashes."""
    parts, missing = [np.empty(0, np.int64)], _SAMPLE
    for rows, pairs in hashes.ranges("pair", kept):
        if missing < len(rows):
            rows = rows[pairs <= np.partition(pairs, missing - 1)[missing - 1]]
        parts.append(rows)
        missing -= len(rows)
        if missing <= 0:
            break
    return np.concatenate(parts)


def judge_lengths(source: int, target: int, cleaning: Cleaning) -> str | None:
    """Return why a pair with these numbers of tokens is dropped, or None."""
    shorter, longer = sorted((source, target))
    if longer > cleaning.longest:
        return TOO_LONG
    return UNEVEN if longer > cleaning.ratio * shorter + _RATIO_GRACE else None


class Drop(BaseModel):
    """Number of pairs dropped for one reason, and the first of them."""

    model_config = ConfigDict(frozen=True)

    count: int
    example: str

    @classmethod
    def first(cls, place: str, pair: tuple[str, str]) -> "Drop":
        return cls(count=1, example=f"{place}: {shorten(' | '.join(pair))}")

    def __add__(self, later: "Drop") -> "Drop":
        return Drop(count=self.count + later.count, example=self.example)


Drops = dict[str, Drop]


def add_drops(drops: Drops, more: Mapping[str, Drop]) -> None:
    """Add drops from later in the corpus to `drops`."""
    for reason, drop in more.items():
        drops[reason] = drops[reason] + drop if reason in drops else drop


class Report(BaseModel):
    """Report of what cleaning did to a training corpus."""

    model_config = ConfigDict(frozen=True)

    read: int
    kept: int
    held_out: int
    dropped: Drops
    further_columns: int = 0  # lines with more than two
    spellings: dict[str, Spelling] = {}  # of source and target, for tokenisers that were given

    def lines(self) -> list[str]:
        """Return the report as lines for people."""
        dropped = ", ".join(f"{drop.count:,} {reason}" for reason, drop in self.dropped.items())
        remarks = [f"held out {self.held_out:,} for validation"] if self.held_out else []
        remarks += [f"dropped {dropped}"] if dropped else []
        summary = f"read {self.read:,} pairs, kept {self.kept:,}" + (f" ({'; '.join(remarks)})" if remarks else "")
        examples = [f"{reason}, for example {drop.example}" for reason, drop in self.dropped.items()]
        if self.further_columns:
            examples.append(f"only the first two columns are used of {self.further_columns:,} lines that have more")
        return [summary, *examples, *([spellings_line(self.spellings)] if self.spellings else [])]
