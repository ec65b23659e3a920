"""Counting n-grams: of a piece of text, and of two pieces that were counted by themselves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from regard.models.ngram.trie import NOWHERE, Places, Rows, Trie, shift


@dataclass(frozen=True)
class NgramCounts:
    """How often each n-gram occurs; `counts` has one array for each order."""

    trie: Trie
    counts: Sequence[Rows]

    def __add__(self, other: "NgramCounts") -> "NgramCounts":
        """The counts of both texts; the same, to the bit, as if they had been counted as one."""
        counts = [self.counts[0] + other.counts[0]]
        keys: list[Rows] = []
        mine, theirs = self.trie.words(1), other.trie.words(1)  # the rows of both among those of the sum
        for order in range(2, self.trie.order + 1):
            parts = [
                rows[trie.parents(order)] * trie.size + trie.words(order)
                for rows, trie in ((mine, self.trie), (theirs, other.trie))
            ]
            # Both are sorted, and a stable sort merges what is.
            both = np.sort(np.concatenate(parts), kind="stable")
            merged = both[np.append(True, both[1:] != both[:-1])] if len(both) else both
            mine, theirs = (np.searchsorted(merged, part) for part in parts)
            total = np.zeros(len(merged), np.int64)
            total[mine] += self.counts[order - 1]
            total[theirs] += other.counts[order - 1]
            keys.append(merged)
            counts.append(total)
        return NgramCounts(Trie(self.trie.size, keys), counts)


def count(tokens: Places, starts: Bool[np.ndarray, " place"], order: int, size: int) -> NgramCounts:
    """The counts of a text of sentences, each of which begins with a begin token; no n-gram reaches over a start."""
    counts, keys = [np.bincount(tokens, minlength=size)], []
    rows = tokens
    for _ in range(2, order + 1):
        before = shift(rows, starts)
        there = before != NOWHERE
        distinct, inverse, times = np.unique(
            before[there] * size + tokens[there], return_inverse=True, return_counts=True
        )
        rows = np.full(len(tokens), NOWHERE)
        rows[there] = inverse
        keys.append(distinct)
        counts.append(times)
    return NgramCounts(Trie(size, keys), counts)


def no_counts(order: int, size: int) -> NgramCounts:
    """The counts of nothing."""
    nothing = np.zeros(0, np.int64)
    return NgramCounts(Trie(size, [nothing] * (order - 1)), [np.zeros(size, np.int64), *[nothing] * (order - 1)])
