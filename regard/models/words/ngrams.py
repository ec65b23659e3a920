"""The n-grams of letters that a word is made of, as rows of a table that they share by their hashes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int32, Int64, UInt32

_FIRST, _PRIME = 2166136261, 16777619  # of FNV-1a, 32 bits


class Parts(NamedTuple):
    """The rows of W whose mean is the vector of each word: `rows[starts[w] : starts[w + 1]]`, each once."""

    starts: Int64[np.ndarray, " word_and_end"]
    rows: Int32[np.ndarray, " part"]


def whole_words(size: int) -> Parts:
    """Words that are their only part."""
    return Parts(np.arange(size + 1), np.arange(size, dtype=np.int32))


def parts_of(words: Sequence[str], shortest: int, longest: int, buckets: int) -> Parts:
    """The rows of the words themselves, which come first in the table, and of their n-grams, which follow.

    An n-gram that occurs twice in a word, or shares its row with another of the word, counts once; in fastText it
    counts as often as it occurs.
    """
    grams = [ngrams(word, shortest, longest) for word in words]
    hashes = hashes_of([gram for each in grams for gram in each])
    rows = (len(words) + hashes % np.uint32(buckets)).astype(np.int32)
    ends = np.cumsum([len(each) for each in grams])
    own = [np.append(np.int32(word), np.unique(part)) for word, part in enumerate(np.split(rows, ends[:-1]))]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in own])]).astype(np.int64)
    return Parts(starts, np.concatenate(own).astype(np.int32))


def rows_of(word: str, words: int, shortest: int, longest: int, buckets: int) -> Int64[np.ndarray, " part"]:
    """The rows of the n-grams of a word that is none of the `words`."""
    hashes = hashes_of(ngrams(word, shortest, longest))
    return words + np.unique(hashes % np.uint32(buckets)).astype(np.int64)


def ngrams(word: str, shortest: int, longest: int) -> list[str]:
    """The n-grams of a word between < and >, which mark its ends and are none by themselves."""
    marked = f"<{word}>"
    spans = range(shortest, min(longest, len(marked)) + 1)
    found = (marked[first : first + span] for span in spans for first in range(len(marked) - span + 1))
    return [gram for gram in found if gram not in ("<", ">")]


def hashes_of(texts: Sequence[str]) -> UInt32[np.ndarray, " text"]:
    """FNV-1a of the UTF-8 of each text, its bytes taken as signed, as fastText does."""
    encoded = [text.encode() for text in texts]
    lengths = np.array([len(each) for each in encoded], np.int64)
    hashes = np.full(len(texts), _FIRST, np.uint32)
    longest = int(lengths.max(initial=0))
    letters = np.frombuffer(b"".join(each.ljust(longest, b"\0") for each in encoded), np.int8).reshape(-1, longest or 1)
    for place in range(longest):
        mixed = (hashes ^ letters[:, place].astype(np.int32).view(np.uint32)) * np.uint32(_PRIME)
        hashes = np.where(place < lengths, mixed, hashes)
    return hashes
