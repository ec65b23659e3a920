"""Counts and models as named arrays, as stored in files; models are read without trusting them."""

from collections.abc import Mapping

import numpy as np

from regard.base.faults import Fault
from regard.models.ngram.counting import NgramCounts
from regard.models.ngram.model import Ngrams
from regard.models.ngram.smoothing import Possible
from regard.models.ngram.trie import Trie

Arrays = Mapping[str, np.ndarray]


def counts_as_arrays(counts: NgramCounts) -> dict[str, np.ndarray]:
    """Return all counts as named arrays."""
    return _keys_as_arrays(counts.trie) | {f"counts.{order}": array for order, array in enumerate(counts.counts, 1)}


def counts_of_arrays(arrays: Arrays, order: int, size: int) -> NgramCounts:
    """Read stored counts over `size` tokens."""
    trie = _trie_of(arrays, order, size)
    return NgramCounts(trie, [_one(arrays, f"counts.{n}", np.int64, trie.rows(n)) for n in range(1, order + 1)])


def model_as_arrays(model: Ngrams) -> dict[str, np.ndarray]:
    """Return a model as named arrays."""
    scores = {f"log_probabilities.{order}": array for order, array in enumerate(model.log_probabilities, 1)}
    backoffs = {f"backoffs.{order}": array for order, array in enumerate(model.backoffs, 1)}
    return _keys_as_arrays(model.trie) | scores | backoffs


def model_of_arrays(arrays: Arrays, order: int, possible: Possible) -> Ngrams:
    """Read a stored model; `possible` marks the tokens that can be predicted. A damaged model is a fault."""
    trie = _trie_of(arrays, order, len(possible))
    rows = [trie.rows(n) for n in range(1, order + 1)]
    scores = [_one(arrays, f"log_probabilities.{n}", np.float32, rows[n - 1]) for n in range(1, order + 1)]
    backoffs = [_one(arrays, f"backoffs.{n}", np.float32, rows[n - 1]) for n in range(1, order)]
    if len(arrays) != len(_keys_as_arrays(trie)) + len(scores) + len(backoffs):
        raise _damage("it has arrays that belong to none of its orders")
    probabilities = [scores[0][possible], *scores[1:]]
    if not all((np.isfinite(array) & (array <= 0)).all() for array in probabilities):
        raise _damage("some of its probabilities are invalid")
    if (scores[0][~possible] != -np.inf).any():
        raise _damage("it predicts tokens that can never occur")
    if not all(np.isfinite(array).all() for array in backoffs):
        raise _damage("some of its back-off weights are not numbers")
    return Ngrams(trie, scores, backoffs)


def _keys_as_arrays(trie: Trie) -> dict[str, np.ndarray]:
    return {f"keys.{order}": keys for order, keys in enumerate(trie.keys, 2)}


def _trie_of(arrays: Arrays, order: int, size: int) -> Trie:
    trie = Trie(size, [])
    for n in range(2, order + 1):
        keys = _one(arrays, f"keys.{n}", np.int64)
        if (keys[1:] <= keys[:-1]).any() or (len(keys) and not 0 <= keys[0] <= keys[-1] < trie.rows(n - 1) * size):
            raise _damage(f"its {n}-grams are not in order, or do not belong to its vocabulary")
        trie = Trie(size, [*trie.keys, keys])
    return trie


def _one(arrays: Arrays, name: str, kind: type[np.generic], rows: int | None = None) -> np.ndarray:
    array = arrays.get(name)
    if array is None or array.ndim != 1 or array.dtype != kind or (rows is not None and len(array) != rows):
        raise _damage(f"'{name}' is missing or has the wrong size or type")
    return array


def _damage(why: str) -> Fault:
    return Fault(f"The weights are not those of this n-gram model: {why}.")
