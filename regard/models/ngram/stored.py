"""Counts and models as named arrays, which is how they lie in files; models are read without trusting them."""

from collections.abc import Mapping

import numpy as np

from regard.base.faults import Fault
from regard.models.ngram.counting import NgramCounts
from regard.models.ngram.model import Ngrams
from regard.models.ngram.smoothing import Possible
from regard.models.ngram.trie import Trie

Arrays = Mapping[str, np.ndarray]


def counts_as_arrays(counts: NgramCounts) -> dict[str, np.ndarray]:
    """Everything that was counted, by name."""
    return _keys_as_arrays(counts.trie) | {f"counts.{order}": each for order, each in enumerate(counts.counts, 1)}


def counts_of_arrays(arrays: Arrays, order: int, size: int) -> NgramCounts:
    """The counts that were stored of so many tokens."""
    trie = _trie_of(arrays, order, size)
    return NgramCounts(
        trie, [_one(arrays, f"counts.{each}", np.int64, trie.rows(each)) for each in range(1, order + 1)]
    )


def model_as_arrays(model: Ngrams) -> dict[str, np.ndarray]:
    """Everything that a model is, by name."""
    scores = {f"log_probabilities.{order}": each for order, each in enumerate(model.log_probabilities, 1)}
    backoffs = {f"backoffs.{order}": each for order, each in enumerate(model.backoffs, 1)}
    return _keys_as_arrays(model.trie) | scores | backoffs


def model_of_arrays(arrays: Arrays, order: int, possible: Possible) -> Ngrams:
    """The model that was stored, over tokens of which these can be predicted; a fault says what is wrong with it."""
    trie = _trie_of(arrays, order, len(possible))
    rows = [trie.rows(each) for each in range(1, order + 1)]
    scores = [_one(arrays, f"log_probabilities.{each}", np.float32, rows[each - 1]) for each in range(1, order + 1)]
    backoffs = [_one(arrays, f"backoffs.{each}", np.float32, rows[each - 1]) for each in range(1, order)]
    if len(arrays) != len(_keys_as_arrays(trie)) + len(scores) + len(backoffs):
        raise _damage("it has arrays that belong to no order of it")
    probabilities = [scores[0][possible], *scores[1:]]
    if not all((np.isfinite(each) & (each <= 0)).all() for each in probabilities):
        raise _damage("some of its probabilities are none")
    if (scores[0][~possible] != -np.inf).any():
        raise _damage("it predicts what is never predicted")
    if not all(np.isfinite(each).all() for each in backoffs):
        raise _damage("some of its back-off weights are not numbers")
    return Ngrams(trie, scores, backoffs)


def _keys_as_arrays(trie: Trie) -> dict[str, np.ndarray]:
    return {f"keys.{order}": keys for order, keys in enumerate(trie.keys, 2)}


def _trie_of(arrays: Arrays, order: int, size: int) -> Trie:
    trie = Trie(size, [])
    for each in range(2, order + 1):
        keys = _one(arrays, f"keys.{each}", np.int64)
        if (keys[1:] <= keys[:-1]).any() or (len(keys) and not 0 <= keys[0] <= keys[-1] < trie.rows(each - 1) * size):
            raise _damage(f"its {each}-grams are not in order, or do not belong to its vocabulary")
        trie = Trie(size, [*trie.keys, keys])
    return trie


def _one(arrays: Arrays, name: str, kind: type[np.generic], rows: int | None = None) -> np.ndarray:
    array = arrays.get(name)
    if array is None or array.ndim != 1 or array.dtype != kind or (rows is not None and len(array) != rows):
        raise _damage(f"'{name}' is missing or of another size or kind than it should be")
    return array


def _damage(why: str) -> Fault:
    return Fault(f"The weights are not those of such an n-gram model: {why}.")
