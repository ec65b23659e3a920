"""Which pairs of a training corpus are kept, which are dropped and why, and which are held out for validation.

Sentences are compared by 64-bit hashes in numpy arrays, so a corpus of millions of pairs is judged in little memory.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from enum import IntEnum
from hashlib import blake2b

import numpy as np
from pydantic import BaseModel, ConfigDict

from regard.base.faults import Fault
from regard.data.corpora.options import Cleaning
from regard.data.tokenisers.spelling import Spelling, spellings_line

_HELD_OUT_SHARE = 0.05
_SAMPLE = 500_000  # pairs
_RATIO_GRACE = 5
_SNIPPET = 60

PairHashes = np.dtype([("pair", "<u8"), ("source", "<u8"), ("target", "<u8")])


class Fate(IntEnum):
    """What becomes of a training pair as far as its text decides it."""

    KEPT = 0
    SAMPLED = 1  # kept, and the tokeniser learns from it
    HELD_OUT = 2
    EMPTY = 3
    DUPLICATE = 4
    LEAKED = 5


TOO_LONG = "too long"
UNEVEN = "too uneven in length"
REASONS = {Fate.EMPTY: "empty", Fate.DUPLICATE: "duplicate", Fate.LEAKED: "shared with validation or test"}


def fold(text: str) -> str:
    """The form in which sentences are compared: case folded, without spaces around."""
    return unicodedata.normalize("NFC", text.casefold()).strip()


def hash_pairs(pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """The hashes of pairs and of their folded sentences, as PairHashes."""
    hashes = []
    for source, target in pairs:
        # A line feed is the one character that no sentence contains.
        hashes += [_hash(f"{source}\n{target}"), _hash(fold(source)), _hash(fold(target))]
    return np.frombuffer(b"".join(hashes), PairHashes)


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8"), digest_size=8).digest()


def hash_sentences(pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """The hashes of the folded sentences of both sides, each once."""
    hashes = hash_pairs(pairs)
    return np.unique([hashes["source"], hashes["target"]])


def hash_folded(texts: Iterable[str]) -> np.ndarray:
    """The hashes of folded sentences, in their order."""
    return np.frombuffer(b"".join(_hash(fold(text)) for text in texts), "<u8")


def learnt_mask(fates: np.ndarray) -> np.ndarray:
    """Which training pairs are kept to learn from."""
    return np.isin(fates, (Fate.KEPT, Fate.SAMPLED))


def judge(
    hashes: np.ndarray,
    elsewhere: np.ndarray,
    cleaning: Cleaning,
    hold_out: int,
    may_validate: np.ndarray | None = None,
) -> np.ndarray:
    """The fate of each training pair; `elsewhere` are the sentences of the validation and test data.

    With `hold_out` above 0 that many are held out, of all or of those that `may_validate` marks, and are from then on
    validation data that must not leak.
    """
    fates = np.full(len(hashes), Fate.KEPT, np.uint8)
    _mark(fates, _is_shared(hashes, np.frombuffer(_hash(""), "<u8")), Fate.EMPTY)
    if cleaning.duplicates:
        repeated = np.ones(len(hashes), bool)
        repeated[np.unique(hashes["pair"], return_index=True)[1]] = False
        _mark(fates, repeated, Fate.DUPLICATE)
    if cleaning.leakage:
        _mark(fates, _is_shared(hashes, elsewhere), Fate.LEAKED)
    if hold_out and (fates == Fate.KEPT).any():
        free = (fates == Fate.KEPT) & (True if may_validate is None else may_validate)
        held_out = _held_out(hashes, free, hold_out)
        fates[held_out] = Fate.HELD_OUT
        if cleaning.leakage:
            sentences = np.unique([hashes["source"][held_out], hashes["target"][held_out]])
            _mark(fates, _is_shared(hashes, sentences), Fate.LEAKED)
    _mark(fates, _sample_mask(hashes["pair"], fates == Fate.KEPT), Fate.SAMPLED)
    return fates


def _mark(fates: np.ndarray, where: np.ndarray, fate: Fate) -> None:
    fates[where & (fates == Fate.KEPT)] = fate


def _is_shared(hashes: np.ndarray, sentences: np.ndarray) -> np.ndarray:
    return np.isin(hashes["source"], sentences) | np.isin(hashes["target"], sentences)


def _held_out(hashes: np.ndarray, kept: np.ndarray, wanted: int) -> np.ndarray:
    """The pairs whose source sentence has one of the smallest hashes: a random choice, but always the same.

    Pairs with equal source sentences stay together, so a sentence of which there are too many is passed over. Those
    with a translation that other pairs share come last, since holding them out costs the training all the others.
    """
    sources, group, sizes = np.unique(hashes["source"][kept], return_inverse=True, return_counts=True)
    if len(sources) < 2:
        raise Fault(
            f"There are too few training pairs ({kept.sum()} after cleaning) to hold some out for validation; "
            "give a validation set (--valid-source and --valid-target, --valid-pairs, or data.valid in a recipe)."
        )
    _, target, repeats = np.unique(hashes["target"][kept], return_inverse=True, return_counts=True)
    is_shared = np.bincount(group, weights=repeats[target] > 1) > 0
    most = max(int(np.min(sizes)), min(wanted, int(kept.sum() * _HELD_OUT_SHARE)))
    order = np.argsort(is_shared, kind="stable")
    order = order[sizes[order] <= most]
    chosen = sources[order[np.cumsum(sizes[order]) <= most]]
    return kept & np.isin(hashes["source"], chosen)


def _sample_mask(pairs: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """The pairs the tokeniser learns from: all, or those with the smallest hashes."""
    if kept.sum() <= _SAMPLE:
        return kept
    return kept & (pairs <= np.partition(pairs[kept], _SAMPLE - 1)[_SAMPLE - 1])


def judge_lengths(source: int, target: int, cleaning: Cleaning) -> str | None:
    """Why a pair with so many tokens on its sides is dropped, if it is."""
    shorter, longer = sorted((source, target))
    if longer > cleaning.longest:
        return TOO_LONG
    return UNEVEN if longer > cleaning.ratio * shorter + _RATIO_GRACE else None


class Drop(BaseModel):
    """How many pairs were dropped for one reason, and the first of them."""

    model_config = ConfigDict(frozen=True)

    count: int
    example: str

    @classmethod
    def first(cls, place: str, pair: tuple[str, str]) -> "Drop":
        return cls(count=1, example=f"{place}: {shorten(' | '.join(pair))}")

    def __add__(self, later: "Drop") -> "Drop":
        return Drop(count=self.count + later.count, example=self.example)


def shorten(text: str) -> str:
    """The beginning of a text, enough of it to find it by."""
    return text if len(text) <= _SNIPPET else text[: _SNIPPET - 1] + "…"


Drops = dict[str, Drop]


def add_drops(drops: Drops, more: Mapping[str, Drop]) -> None:
    """Count more of what was dropped, coming later in the corpus, into `drops`."""
    for reason, drop in more.items():
        drops[reason] = drops[reason] + drop if reason in drops else drop


class Report(BaseModel):
    """What cleaning did to a training corpus."""

    model_config = ConfigDict(frozen=True)

    read: int
    kept: int
    held_out: int
    dropped: Drops
    further_columns: int = 0  # lines that have more than two
    spellings: dict[str, Spelling] = {}  # of source and target, by tokenisers that were given

    def lines(self) -> list[str]:
        """The report for people."""
        dropped = ", ".join(f"{drop.count:,} {reason}" for reason, drop in self.dropped.items())
        remarks = [f"held out {self.held_out:,} for validation"] if self.held_out else []
        remarks += [f"dropped {dropped}"] if dropped else []
        summary = f"read {self.read:,} pairs, kept {self.kept:,}" + (f" ({'; '.join(remarks)})" if remarks else "")
        examples = [f"{reason}, for example {drop.example}" for reason, drop in self.dropped.items()]
        if self.further_columns:
            examples.append(f"of {self.further_columns:,} lines with more than two columns the first two are taken")
        return [summary, *examples, *([spellings_line(self.spellings)] if self.spellings else [])]
