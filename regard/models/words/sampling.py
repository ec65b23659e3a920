"""Random sampling of words: subsampling of a text, and negative samples."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Float64, Int32, Int64


def keep_probabilities(counts: Int64[np.ndarray, " word"], subsampling: float) -> Float32[np.ndarray, " word"]:
    """Return the probability of keeping each word in the text.

    With f the share of a word in the text and t the subsampling, p = √(t/f) + t/f, at most 1. The paper has √(t/f)
    (Mikolov et al. 2013, equation 5); the other term is in its program, and in gensim.
    """
    if not subsampling:
        return np.ones(len(counts), np.float32)
    ratio = subsampling * counts.sum() / np.maximum(counts, 1)
    return np.minimum(np.sqrt(ratio) + ratio, 1).astype(np.float32)


class Noise(NamedTuple):
    """A distribution over words for the alias method (Walker 1977): two draws give a word, however many there are.

    A place is drawn uniformly; with that place's probability `own` it is the word, otherwise its `alias` is.
    """

    own: Float32[np.ndarray, " word"]
    alias: Int32[np.ndarray, " word"]


def shares(counts: Int64[np.ndarray, " word"], exponent: float) -> Float64[np.ndarray, " word"]:
    """Return the probability of each word, in proportion to its count to the power `exponent`."""
    powers = np.maximum(counts, 1).astype(np.float64) ** exponent
    return powers / powers.sum()


def alias_table(probabilities: Float64[np.ndarray, " word"]) -> Noise:
    """Build the table that samples with these probabilities."""
    size = len(probabilities)
    own, alias = probabilities * size, np.arange(size, dtype=np.int32)
    small, large = list(np.flatnonzero(own < 1)), list(np.flatnonzero(own >= 1))
    while small and large:
        less, more = small.pop(), large[-1]
        alias[less] = more
        own[more] -= 1 - own[less]  # its contribution to fill the other place
        if own[more] < 1:
            small.append(large.pop())
    own[small + large] = 1  # the rest differ from 1 only by rounding
    return Noise(own.astype(np.float32), alias)
