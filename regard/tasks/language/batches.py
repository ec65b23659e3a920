"""Batches of tokens: whole sentences to count and score, and prompts to continue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from jaxtyping import Bool, Int64


@dataclass(frozen=True)
class Sentences:
    """Whole sentences one after another, each from its begin to its end.

    The positions where they begin are stored separately, because a tokeniser may have one token for begin and end.
    """

    tokens: Int64[np.ndarray, " place"]
    starts: Bool[np.ndarray, " place"]

    @property
    def rows(self) -> int:
        return int(np.count_nonzero(self.starts))

    def split(self, parts: int) -> list["Sentences"]:
        """Split the sentences into smaller batches."""
        starts = np.flatnonzero(self.starts)
        cuts = [starts[rows[0]] for rows in np.array_split(np.arange(len(starts)), parts) if len(rows)][1:]
        return list(map(Sentences, np.split(self.tokens, cuts), np.split(self.starts, cuts)))


@dataclass(frozen=True)
class Prompts:
    """The beginning of each text in tokens; a prompt may be empty.

    With `forgets`, a network whose context is full forgets the older half of it; otherwise texts end there.
    """

    tokens: Sequence[Sequence[int]]
    forgets: bool = False

    @property
    def rows(self) -> int:
        return len(self.tokens)


def cut_sentences(tokens: np.ndarray, begin: int, end: int, size: int, start: int = 0) -> Iterator[Sentences]:
    """Yield tokens with an end after each sentence as batches of about `size` tokens, from batch `start` on."""
    ends, first, number = np.flatnonzero(tokens == end), 0, 0
    while first < len(tokens):
        last = int(ends[np.searchsorted(ends, min(first + size, len(tokens)) - 1)]) + 1
        if number >= start:
            yield _with_begins(np.asarray(tokens[first:last], np.int64), begin, end)
        first, number = last, number + 1


def sentences_of(rows: Sequence[Sequence[int]], begin: int, end: int) -> Sentences:
    """Return the tokens of some texts as one batch."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    return sentences_in_a_row(np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum())), lengths, begin, end)


def sentences_in_a_row(
    tokens: Int64[np.ndarray, " token"], lengths: Int64[np.ndarray, " sentence"], begin: int, end: int
) -> Sentences:
    """Return consecutive sentences of these lengths as one batch."""
    firsts = np.cumsum(lengths + 2) - lengths - 2
    starts = np.zeros(len(tokens) + 2 * len(lengths), bool)
    starts[firsts] = True
    is_token = ~starts
    is_token[firsts + lengths + 1] = False
    placed = np.full(len(starts), end)
    placed[firsts], placed[is_token] = begin, tokens
    return Sentences(placed, starts)


def _with_begins(tokens: np.ndarray, begin: int, end: int) -> Sentences:
    """Insert a begin token before each sentence of tokens that end with an end token."""
    places = np.append(0, np.flatnonzero(tokens == end)[:-1] + 1)
    return Sentences(np.insert(tokens, places, begin), np.insert(np.zeros(len(tokens), bool), places, True))
