"""The set of n-grams of a model: sorted arrays in which all n-grams of a text are looked up at once.

The n-grams of order k are sorted rows. The key of a row is made of the row of its first k−1 words among those of order
k−1, and its last word. In order 1 every token of the vocabulary is a row, whose number is the token itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int64

from regard.base.compiled import pays_to_compile
from regard.models.ngram.scratch import IN_MEMORY, Scratch, spans

NOWHERE = -1  # row of an n-gram that does not exist; never part of a key, since keys are not negative

Rows = Int64[np.ndarray, "_"]  # one number per n-gram of an order
Places = Int64[np.ndarray, " place"]


@dataclass(frozen=True)
class Trie:
    """All n-grams up to an order over the tokens 0 … size−1; `keys` holds those of orders 2, 3 and so on."""

    size: int
    keys: Sequence[Rows]
    stored_firsts: Sequence[Rows] | None = None  # `firsts`, if already known

    @cached_property
    def firsts(self) -> Sequence[Rows]:
        """For orders 2, 3 and so on, where the children of each row of the order below begin, and the end."""
        if self.stored_firsts is not None:
            return self.stored_firsts
        return [self.firsts_of(order) for order in range(2, self.order + 1)]

    def firsts_of(self, order: int, scratch: Scratch = IN_MEMORY) -> Rows:
        """Return `firsts` of one order."""
        keys, firsts = self.keys[order - 2], scratch.empty(self.rows(order - 1) + 1, np.int64)
        if pays_to_compile(len(keys)):
            from regard.kernels.ngram_loops import fill_firsts

            fill_firsts(keys, self.size, firsts)
            return firsts
        for span in spans(len(firsts)):
            firsts[span] = np.searchsorted(keys, np.arange(span.start, span.stop) * self.size)
        return firsts

    @property
    def order(self) -> int:
        return len(self.keys) + 1

    def rows(self, order: int) -> int:
        """Return the number of n-grams of an order."""
        return self.size if order == 1 else len(self.keys[order - 2])

    def parents(self, order: int) -> Rows:
        """Return, for each n-gram, the row of the words before its last among those of the order below."""
        return self.keys[order - 2] // self.size

    def words(self, order: int) -> Rows:
        """Return the last word of each n-gram."""
        return np.arange(self.size) if order == 1 else self.keys[order - 2] % self.size

    def find(self, order: int, parents: Places, words: Places) -> Places:
        """Return the rows of n-grams, given the rows of their first words and their last words."""
        keys, rows = self.keys[order - 2], np.full(len(parents), NOWHERE)
        if pays_to_compile(len(parents)):
            from regard.kernels.ngram_loops import find_rows

            find_rows(keys, self.firsts[order - 2], self.size, parents, words, rows)
            return rows
        places = np.flatnonzero(parents != NOWHERE)
        if len(keys) and len(places):
            wanted = parents[places] * self.size + words[places]
            ascending = np.argsort(wanted)  # sorted lookups use the cache, and take a third of the time
            places, wanted = places[ascending], wanted[ascending]
            matches = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            rows[places] = np.where(keys[matches] == wanted, matches, NOWHERE)
        return rows

    def ending_at(self, tokens: Places, starts: Bool[np.ndarray, " place"]) -> Iterator[Places]:
        """Yield, order by order, the row of the n-gram that ends at each place of a text; none crosses a start."""
        rows = tokens
        yield rows
        for order in range(2, self.order + 1):
            rows = self.find(order, shift(rows, starts), tokens)
            yield rows

    def suffixes(self, scratch: Scratch = IN_MEMORY) -> Iterator[Rows]:
        """Yield, for orders 2, 3 and so on, the row of each n-gram's last words, all but the first.

        In a pruned model they may be missing.
        """
        before = np.zeros(0, np.int64)
        for order in range(2, self.order + 1):
            keys = self.keys[order - 2]
            rows = scratch.empty(len(keys), np.int64)
            if order > 2 and pays_to_compile(len(keys)):
                from regard.kernels.ngram_loops import fill_suffixes

                firsts = self.firsts_of(order - 1, scratch)
                fill_suffixes(keys, self.keys[order - 3], firsts, before, self.size, rows)
            else:
                for span in spans(len(keys)):
                    parents, words = np.divmod(keys[span], self.size)
                    rows[span] = words if order == 2 else self.find(order - 1, before[parents], words)
            yield rows
            before = rows

    def first_words(self) -> Iterator[Rows]:
        """Yield, order by order, the first word of each n-gram."""
        rows = self.words(1)
        yield rows
        for order in range(2, self.order + 1):
            rows = rows[self.parents(order)]
            yield rows

    def spell(self, order: int) -> Int64[np.ndarray, "row order"]:
        """Return the words of all n-grams of an order."""
        rows, columns = np.arange(self.rows(order)), []
        for level in range(order, 1, -1):
            columns.append(self.words(level)[rows])
            rows = self.parents(level)[rows]
        return np.stack([rows, *reversed(columns)], axis=1)


def shift(rows: Places, starts: Bool[np.ndarray, " place"]) -> Places:
    """Shift by one place; nothing comes before a start."""
    before = np.empty_like(rows)
    before[0:1], before[1:] = NOWHERE, rows[:-1]
    before[starts] = NOWHERE
    return before
