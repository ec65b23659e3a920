"""Co-occurrence counts: a word at distance d counts 1/d (Pennington et al. 2014, section 4.2)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64, Int32, Int64

_AT_ONCE = 2**20  # tokens whose pairs are counted together


@dataclass(frozen=True)
class Cooccurrences:
    """Pairs of words that occur near each other, in both directions, sorted by word, with their counts."""

    rows: Int32[np.ndarray, " pair"]
    columns: Int32[np.ndarray, " pair"]
    counts: Float32[np.ndarray, " pair"]

    def __len__(self) -> int:
        return len(self.counts)


def count_cooccurrences(tokens: np.ndarray, end: int, first: int, size: int, window: int) -> Cooccurrences:
    """Count co-occurrences in a text with an end token after each sentence; none crosses a sentence end.

    Words are the tokens from `first` on; other tokens are left out, and their neighbours become adjacent.
    """
    keys, counts = np.zeros(0, np.int64), np.zeros(0, np.float64)
    ends = np.append(0, np.flatnonzero(tokens == end) + 1)
    start = 0
    while start < len(ends) - 1:
        stop = max(start + 1, int(np.searchsorted(ends, ends[start] + _AT_ONCE, side="right")) - 1)
        more, weights = _count(np.asarray(tokens[ends[start] : ends[stop]], np.int64), end, first, size, window)
        keys, counts = _add(np.concatenate([keys, more]), np.concatenate([counts, weights]))
        start = stop
    # Pairs were counted from left to right; right to left is symmetric.
    left, right = np.divmod(keys, size)
    keys, counts = _add(np.concatenate([keys, right * size + left]), np.concatenate([counts, counts]))
    rows, columns = np.divmod(keys, size)
    return Cooccurrences(rows.astype(np.int32), columns.astype(np.int32), counts.astype(np.float32))


def _count(
    tokens: Int64[np.ndarray, " token"], end: int, first: int, size: int, window: int
) -> tuple[Int64[np.ndarray, " pair"], Float64[np.ndarray, " pair"]]:
    """Count the pairs of whole sentences, from left to right."""
    sentence = np.cumsum(tokens == end)
    is_word = tokens >= first
    words, sentence = tokens[is_word] - first, sentence[is_word]
    keys, weights = [np.zeros(0, np.int64)], [np.zeros(0, np.float64)]
    for distance in range(1, min(window, max(len(words) - 1, 0)) + 1):
        near = sentence[distance:] == sentence[:-distance]
        keys.append(words[:-distance][near] * size + words[distance:][near])
        weights.append(np.full(len(keys[-1]), 1 / distance))
    return _add(np.concatenate(keys), np.concatenate(weights))


def _add(
    keys: Int64[np.ndarray, " pair"], weights: Float64[np.ndarray, " pair"]
) -> tuple[Int64[np.ndarray, " distinct"], Float64[np.ndarray, " distinct"]]:
    """Return the distinct keys in order, and the sum of the weights of each."""
    order = np.argsort(keys, kind="stable")
    keys, weights = keys[order], weights[order]
    if not len(keys):
        return keys, weights
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[firsts], np.add.reduceat(weights, firsts)
