"""Counting n-grams: of a piece of text, and of two pieces that were counted by themselves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from regard.base.compiled import pays_to_compile
from regard.models.ngram.scratch import IN_MEMORY, Scratch
from regard.models.ngram.trie import NOWHERE, Places, Rows, Trie, shift

_MERGED_AT_ONCE = 1 << 20  # rows
_MOST_PLACES = 2**31 - 1  # that are sorted by compiled loops


@dataclass(frozen=True)
class NgramCounts:
    """Counts of n-grams; `counts` has one array for each order."""

    trie: Trie
    counts: Sequence[Rows]

    def __add__(self, other: "NgramCounts") -> "NgramCounts":
        return add(self, other)

    @property
    def size(self) -> int:
        """Number of values it holds."""
        return sum(map(len, self.counts))


def add(mine: NgramCounts, theirs: NgramCounts, scratch: Scratch = IN_MEMORY) -> NgramCounts:
    """Return the counts of both texts, the same, to the bit, as if they had been counted as one."""
    size = mine.trie.size
    counts, keys = [mine.counts[0] + theirs.counts[0]], list[Rows]()
    my_rows = their_rows = mine.trie.words(1)  # which rows of the sum theirs have become
    merge = _compiled_merge() if pays_to_compile(mine.size + theirs.size) else _merge
    for order in range(2, mine.trie.order + 1):
        own, other = mine.trie.keys[order - 2], theirs.trie.keys[order - 2]
        my_parents, their_parents = my_rows, their_rows
        my_rows, their_rows = scratch.empty(len(own), np.int64), scratch.empty(len(other), np.int64)
        merged, total = (scratch.empty(len(own) + len(other), np.int64) for _ in range(2))
        rows = merge(
            own, other, mine.counts[order - 1], theirs.counts[order - 1], my_parents, their_parents, size,
            my_rows, their_rows, merged, total,
        )  # fmt: skip
        keys.append(merged[:rows])
        counts.append(total[:rows])
    return NgramCounts(Trie(size, keys), counts)


def _compiled_merge():  # type: ignore[no-untyped-def]
    from regard.kernels.ngram_loops import merge

    return merge


def _merge(
    mine: Rows,
    theirs: Rows,
    my_counts: Rows,
    their_counts: Rows,
    my_parents: Rows,
    their_parents: Rows,
    size: int,
    my_rows: Rows,
    their_rows: Rows,
    keys: Rows,
    counts: Rows,
) -> int:
    """Add up the counts of an order some rows at once, as the compiled loop does, and return how many there are."""
    row = me = they = 0
    while me < len(mine) or they < len(theirs):
        own = _translated(mine[me : me + _MERGED_AT_ONCE], my_parents, size)
        other = _translated(theirs[they : they + _MERGED_AT_ONCE], their_parents, size)
        # What lies beyond the end of one of them may still be in the other.
        ends = [
            part[-1]
            for part, whole, start in ((own, mine, me), (other, theirs, they))
            if start + len(part) < len(whole)
        ]
        if ends:
            own, other = own[own <= min(ends)], other[other <= min(ends)]
        both = np.sort(np.concatenate([own, other]), kind="stable")  # which merges what is sorted
        merged = both[np.append(True, both[1:] != both[:-1])] if len(both) else both
        places, total = (np.searchsorted(merged, own), np.searchsorted(merged, other)), np.zeros(len(merged), np.int64)
        total[places[0]] += my_counts[me : me + len(own)]
        total[places[1]] += their_counts[they : they + len(other)]
        my_rows[me : me + len(own)], their_rows[they : they + len(other)] = row + places[0], row + places[1]
        keys[row : row + len(merged)], counts[row : row + len(merged)] = merged, total
        row, me, they = row + len(merged), me + len(own), they + len(other)
    return row


def _translated(keys: Rows, parents: Rows, size: int) -> Rows:
    """Return keys as they are in the sum."""
    above = keys // size
    return (parents[above] - above) * size + keys


def count(tokens: Places, starts: Bool[np.ndarray, " place"], order: int, size: int) -> NgramCounts:
    """Return the counts of a text of sentences, each of which begins with a begin token.

    No n-gram reaches over a start.
    """
    if pays_to_compile(len(tokens)) and len(tokens) <= _MOST_PLACES:
        return _count_compiled(tokens, starts, order, size)
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


def _count_compiled(tokens: Places, starts: Bool[np.ndarray, " place"], order: int, size: int) -> NgramCounts:
    """Sort all places by the words that begin there, so that equal n-grams of every order are neighbours."""
    from regard.kernels import ngram_loops

    narrow = tokens.astype(np.int32)
    places, left = ngram_loops.sorted_places(narrow, starts, order, size)
    shared, numbers = ngram_loops.shared_lengths(narrow, places, left, order)
    numbers[:2] = 0  # single words are rows of their own
    firsts = np.cumsum(numbers) - numbers
    keys, counts = np.empty(numbers.sum(), np.int64), np.empty(numbers.sum(), np.int64)
    ngram_loops.fill_counts(narrow, places, left, shared, size, firsts, keys, counts)
    parts = [slice(firsts[each], firsts[each] + numbers[each]) for each in range(2, order + 1)]
    single = np.bincount(tokens, minlength=size)
    return NgramCounts(Trie(size, [keys[part] for part in parts]), [single, *(counts[part] for part in parts)])


def no_counts(order: int, size: int) -> NgramCounts:
    """Return the counts of nothing."""
    nothing = np.zeros(0, np.int64)
    return NgramCounts(Trie(size, [nothing] * (order - 1)), [np.zeros(size, np.int64), *[nothing] * (order - 1)])
