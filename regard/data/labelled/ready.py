"""Pretrained vectors for a word tokeniser: their words join the vocabulary, and each token gets its vector."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from regard.data.tokenisers.symbols import NAMES
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.data.tokenisers.words import WordTokeniser
from regard.data.vectors.word_vectors import WordVectors


class ReadyVectors(NamedTuple):
    """A vector for each token (token, width), zeros if there is none, and a mask of tokens that have one."""

    table: np.ndarray
    is_known: np.ndarray


def extend_vocabulary(tokeniser: Tokeniser, words: Iterable[str], lower_case: bool) -> Tokeniser:
    """Return the tokeniser with more words after its own; with lower case, others could never occur."""
    assert isinstance(tokeniser, WordTokeniser)
    more = (word for word in words if not lower_case or word == word.lower())
    return type(tokeniser)(list(dict.fromkeys([*known_words(tokeniser), *more])))


def known_words(tokeniser: Tokeniser) -> list[str]:
    """Return the words that a tokeniser knows, in token order."""
    return tokeniser.pieces(range(len(NAMES), tokeniser.size))


def ready_vectors(tokeniser: Tokeniser, vectors: WordVectors) -> ReadyVectors:
    """Return the vectors of the tokens; a word without one takes that of its lower case."""
    table = np.zeros((tokeniser.size, vectors.width), dtype=np.float32)
    is_known = np.zeros(tokeniser.size, dtype=bool)
    for token, word in enumerate(known_words(tokeniser), len(NAMES)):
        if (entry := word if word in vectors else word.lower()) in vectors:
            table[token], is_known[token] = vectors[entry], True
    return ReadyVectors(table, is_known)
