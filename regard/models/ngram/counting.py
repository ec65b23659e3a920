"""Count n-grams of a text, and add counts of two texts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from regard.base.compiled import pays_to_compile
from regard.models.ngram.scratch import IN_MEMORY, Scratch
from regard.models.ngram.trie import NOWHERE, Places, Rows, Trie, shift

_MERGED_AT_ONCE = 1 << 20  # rows
_MOST_PLACES = 2**31 - 1  # that the compiled loops can sort


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
    """Return the counts of both texts, identical to the bit to counting them as one."""
    size = mine.trie.size
    counts, keys = [mine.counts[0] + theirs.counts[0]], list[Rows]()
    my_rows = their_rows = mine.trie.words(1)  # the rows of the sum that each one's rows have become
    merge = _compiled_merge() if pays_to_compile(mine.size + theirs.size) else _merge
    for order in range(2, mine.trie.order + 1):
        my_keys, their_keys = mine.trie.keys[order - 2], theirs.trie.keys[order - 2]
        my_parents, their_parents = my_rows, their_rows
        my_rows, their_rows = scratch.empty(len(my_keys), np.int64), scratch.empty(len(their_keys), np.int64)
        merged, total = (scratch.empty(len(my_keys) + len(their_keys), np.int64) for _ in range(2))
        rows = merge(
            my_keys, their_keys, mine.counts[order - 1], theirs.counts[order - 1], my_parents, their_parents, size,
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
    """Add up the counts of an order some rows at a time, as the compiled loop does, and return the number of rows."""
    row = me = they = 0
    while me < len(mine) or they < len(theirs):
        my_part = _translated(mine[me : me + _MERGED_AT_ONCE], my_parents, size)
        their_part = _translated(theirs[they : they + _MERGED_AT_ONCE], their_parents, size)
        # Keys beyond the end of one part may still follow in the other.
        ends = [
            part[-1]
            for part, whole, start in ((my_part, mine, me), (their_part, theirs, they))
            if start + len(part) < len(whole)
        ]
        if ends:
            my_part, their_part = my_part[my_part <= min(ends)], their_part[their_part <= min(ends)]
        both = np.sort(np.concatenate([my_part, their_part]), kind="stable")  # a merge, since both are sorted
        merged = both[np.append(True, both[1:] != both[:-1])] if len(both) else both
        places, total = (
            (np.searchsorted(merged, my_part), np.searchsorted(merged, their_part)),
            np.zeros(len(merged), np.int64),
        )
        total[places[0]] += my_counts[me : me + len(my_part)]
        total[places[1]] += their_counts[they : they + len(their_part)]
        my_rows[me : me + len(my_part)], their_rows[they : they + len(their_part)] = row + places[0], row + places[1]
        keys[row : row + len(merged)], counts[row : row + len(merged)] = merged, total
        row, me, they = row + len(merged), me + len(my_part), they + len(their_part)
    return row


def _translated(keys: Rows, parents: Rows, size: int) -> Rows:
    """Translate keys to their values in the sum."""
    above = keys // size
    return (parents[above] - above) * size + keys


def count(tokens: Places, starts: Bool[np.ndarray, " place"], order: int, size: int) -> NgramCounts:
    """Count the n-grams of a text of sentences, each of which begins with a begin token.

    No n-gram crosses a start.
    """
    if pays_to_compile(len(tokens)) and len(tokens) <= _MOST_PLACES:
        return _count_compiled(tokens, starts, order, size)
    counts, keys = [np.bincount(tokens, minlength=size)], []
    rows = tokens
    for _ in range(2, order + 1):
        before = shift(rows, starts)
        exists = before != NOWHERE
        distinct, inverse, times = np.unique(
            before[exists] * size + tokens[exists], return_inverse=True, return_counts=True
        )
        rows = np.full(len(tokens), NOWHERE)
        rows[exists] = inverse
        keys.append(distinct)
        counts.append(times)
    return NgramCounts(Trie(size, keys), counts)


def _count_compiled(tokens: Places, starts: Bool[np.ndarray, " place"], order: int, size: int) -> NgramCounts:
    """Count by sorting all places by the words that begin there, so that equal n-grams of every order are adjacent."""
    from regard.kernels import ngram_loops

    narrow = tokens.astype(np.int32)
    places, left = ngram_loops.sorted_places(narrow, starts, order, size)
    shared, numbers = ngram_loops.shared_lengths(narrow, places, left, order)
    numbers[:2] = 0  # single words are numbered by their tokens
    firsts = np.cumsum(numbers) - numbers
    keys, counts = np.empty(numbers.sum(), np.int64), np.empty(numbers.sum(), np.int64)
    ngram_loops.fill_counts(narrow, places, left, shared, size, firsts, keys, counts)
    parts = [slice(firsts[n], firsts[n] + numbers[n]) for n in range(2, order + 1)]
    single = np.bincount(tokens, minlength=size)
    return NgramCounts(Trie(size, [keys[part] for part in parts]), [single, *(counts[part] for part in parts)])


def no_counts(order: int, size: int) -> NgramCounts:
    """Return empty counts."""
    nothing = np.zeros(0, np.int64)
    return NgramCounts(Trie(size, [nothing] * (order - 1)), [np.zeros(size, np.int64), *[nothing] * (order - 1)])
