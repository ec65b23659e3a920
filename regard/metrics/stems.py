"""Stems of words by the Snowball stemmers: words without their endings."""

from functools import lru_cache
from typing import Any

_KEPT_WORDS = 1 << 16


@lru_cache(_KEPT_WORDS)
def stem(algorithm: str, word: str) -> str:
    """Return the stem of a lower-case word by a Snowball stemmer such as `english`, `portuguese` or `porter`."""
    try:
        return str(_stemmer(algorithm).stemWord(word))
    except UnicodeEncodeError:  # a lone surrogate, which the stemmers written in C reject
        return word


@lru_cache
def _stemmer(algorithm: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(algorithm)
