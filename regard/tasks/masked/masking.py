"""Choose which tokens of a text are hidden, and what is read in their places (Devlin et al. 2019, section 3.1).

Everything depends only on a key and the number of a row, not on the rest of its batch: random numbers are hashes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64, Int64, UInt64

from regard.tasks.masked.options import MaskingOptions

NOTHING = -1  # target where there is no masked place
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ / φ
_MIXES = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
_LAST = np.uint64(31)
_CHOOSING, _READING, _TOKENS = range(3)  # purposes of random numbers


class Masked(NamedTuple):
    """Rows with some tokens hidden: the tokens to read, the hidden places, and the tokens that were there.

    All rows have room for equally many places; unused ones have no target.
    """

    tokens: Int64[np.ndarray, "row time"]
    places: Int64[np.ndarray, "row masked"]
    wanted: Int64[np.ndarray, "row masked"]


class Vocabulary(NamedTuple):
    """Facts about tokens that masking needs: which continue a word, which are marks, and the mask."""

    goes_on: Bool[np.ndarray, " token"]
    is_mark: Bool[np.ndarray, " token"]
    mask: int


def mask_rows(
    tokens: Int64[np.ndarray, "row time"],
    numbers: Int64[np.ndarray, " row"],
    key: Sequence[int],
    vocabulary: Vocabulary,
    options: MaskingOptions,
) -> Masked:
    """Hide a share of the tokens of each row, except marks.

    Words are hidden in random order while they fit into the row's share; if even the first does not fit, its beginning
    is hidden.
    """
    time = tokens.shape[1]
    candidates = ~vocabulary.is_mark[tokens]
    budgets = np.maximum(1, np.round(options.share * candidates.sum(axis=1)).astype(np.int64))
    budgets = np.minimum(budgets, candidates.sum(axis=1))
    order = _chances(key, numbers, time, _CHOOSING)
    words = _words(tokens, vocabulary, options.whole_words)
    order = np.take_along_axis(order, words, axis=1)  # a word has the random number of its first token
    order[~candidates] = np.inf
    sorted_places = np.argsort(order, axis=1, kind="stable")
    in_order = np.take_along_axis(words, sorted_places, axis=1)
    chosen = _fitting(in_order, budgets)
    most = max(1, int(np.round(options.share * time)))
    places = np.where(chosen, sorted_places, 0)[:, :most]
    targets = np.where(chosen, np.take_along_axis(tokens, sorted_places, axis=1), NOTHING)[:, :most]
    return Masked(_hidden(tokens, places, targets, _Draws(key, numbers), vocabulary, options), places, targets)


def _words(
    tokens: Int64[np.ndarray, "row time"], vocabulary: Vocabulary, whole_words: bool
) -> Int64[np.ndarray, "row time"]:
    """Return for each token the place where its word begins; without whole words, its own place."""
    places = np.broadcast_to(np.arange(tokens.shape[1]), tokens.shape)
    if not whole_words:
        return places
    begins = ~vocabulary.goes_on[tokens] | vocabulary.is_mark[tokens]
    begins[:, 1:] |= vocabulary.is_mark[tokens[:, :-1]]  # a word cut off at the start of a row
    begins[:, 0] = True
    return np.maximum.accumulate(np.where(begins, places, 0), axis=1)


def _fitting(words: Int64[np.ndarray, "row time"], budgets: Int64[np.ndarray, " row"]) -> Bool[np.ndarray, "row time"]:
    """Return True for the tokens, in the order of their words, that are hidden."""
    places = np.broadcast_to(np.arange(words.shape[1]), words.shape)
    is_last = np.ones_like(words, bool)
    is_last[:, :-1] = words[:, 1:] != words[:, :-1]
    # The place of the last token of each word, computed from the right.
    ends = np.minimum.accumulate(np.where(is_last, places, words.shape[1])[:, ::-1], axis=1)[:, ::-1]
    fits = ends < budgets[:, None]
    return np.where(fits[:, :1], fits, places < budgets[:, None])


class _Draws(NamedTuple):
    key: Sequence[int]
    numbers: Int64[np.ndarray, " row"]


def _hidden(
    tokens: Int64[np.ndarray, "row time"],
    places: Int64[np.ndarray, "row masked"],
    targets: Int64[np.ndarray, "row masked"],
    draws: _Draws,
    vocabulary: Vocabulary,
    options: MaskingOptions,
) -> Int64[np.ndarray, "row time"]:
    """Return the tokens that are read: mostly the mask, sometimes a random token or the true one."""
    shown = _chances(*draws, tokens.shape[1], _READING)
    ordinary = np.flatnonzero(~vocabulary.is_mark)
    others = ordinary[(_chances(*draws, tokens.shape[1], _TOKENS) * len(ordinary)).astype(np.int64)]
    instead = np.where(shown < options.masked, vocabulary.mask, others)
    instead = np.where(shown < options.masked + options.random, instead, tokens)
    is_hidden = np.zeros(tokens.shape, bool)
    row, place = np.nonzero(targets != NOTHING)
    is_hidden[row, places[row, place]] = True
    return np.where(is_hidden, instead, tokens)


def _chances(
    key: Sequence[int], numbers: Int64[np.ndarray, " row"], time: int, purpose: int
) -> Float64[np.ndarray, "row time"]:
    """Return a uniform number in [0, 1) for every place of every row (SplitMix64, Steele et al. 2014)."""
    state = np.zeros(1, np.uint64)
    for part in (*key, purpose):
        state = _mixed(state ^ np.uint64(part))
    rows = _mixed(state ^ numbers.astype(np.uint64))
    hashes = _mixed(rows[:, None] ^ _mixed(np.arange(time, dtype=np.uint64))[None])
    return (hashes >> np.uint64(11)) * 2.0**-53


def _mixed(numbers: UInt64[np.ndarray, "*shape"]) -> UInt64[np.ndarray, "*shape"]:
    """Hash each number to an unrelated one."""
    mixed = numbers + _GOLDEN
    for shift, factor in _MIXES:
        mixed = (mixed ^ (mixed >> shift)) * factor
    return mixed ^ (mixed >> _LAST)
