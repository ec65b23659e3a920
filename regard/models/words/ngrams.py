"""The letter n-grams of a word, as rows of a hashed table."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int32, Int64, UInt32

_FIRST, _PRIME = 2166136261, 16777619  # constants of FNV-1a, 32 bits


class Parts(NamedTuple):
    """The rows of W whose mean is the vector of each word: `rows[starts[w] : starts[w + 1]]`, each once."""

    starts: Int64[np.ndarray, " word_and_end"]
    rows: Int32[np.ndarray, " part"]


def whole_words(size: int) -> Parts:
    """Return words that are their only part."""
    return Parts(np.arange(size + 1), np.arange(size, dtype=np.int32))


def parts_of(words: Sequence[str], shortest: int, longest: int, buckets: int) -> Parts:
    """Return the rows of the words, which come first in the table, and of their n-grams, which follow.

    An n-gram that occurs twice in a word, or shares its row with another n-gram of the word, counts once; in fastText
    it counts as often as it occurs.
    """
    grams = [ngrams(word, shortest, longest) for word in words]
    hashes = hashes_of([gram for word_grams in grams for gram in word_grams])
    rows = (len(words) + hashes % np.uint32(buckets)).astype(np.int32)
    ends = np.cumsum([len(word_grams) for word_grams in grams])
    word_rows = [np.append(np.int32(word), np.unique(part)) for word, part in enumerate(np.split(rows, ends[:-1]))]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in word_rows])]).astype(np.int64)
    return Parts(starts, np.concatenate(word_rows).astype(np.int32))


def rows_of(word: str, words: int, shortest: int, longest: int, buckets: int) -> Int64[np.ndarray, " part"]:
    """Return the rows of the n-grams of a word that is not among the `words`."""
    hashes = hashes_of(ngrams(word, shortest, longest))
    return words + np.unique(hashes % np.uint32(buckets)).astype(np.int64)


def ngrams(word: str, shortest: int, longest: int) -> list[str]:
    """Return the n-grams of a word between < and >, which mark its ends and do not count alone."""
    marked = f"<{word}>"
    spans = range(shortest, min(longest, len(marked)) + 1)
    candidates = (marked[first : first + span] for span in spans for first in range(len(marked) - span + 1))
    return [gram for gram in candidates if gram not in ("<", ">")]


def hashes_of(texts: Sequence[str]) -> UInt32[np.ndarray, " text"]:
    """Return FNV-1a of the UTF-8 of each text, with signed bytes, as in fastText."""
    encoded = [text.encode() for text in texts]
    lengths = np.array([len(text) for text in encoded], np.int64)
    hashes = np.full(len(texts), _FIRST, np.uint32)
    longest = int(lengths.max(initial=0))
    letters = np.frombuffer(b"".join(text.ljust(longest, b"\0") for text in encoded), np.int8).reshape(-1, longest or 1)
    for place in range(longest):
        mixed = (hashes ^ letters[:, place].astype(np.int32).view(np.uint32)) * np.uint32(_PRIME)
        hashes = np.where(place < lengths, mixed, hashes)
    return hashes
