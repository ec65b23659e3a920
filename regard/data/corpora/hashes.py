"""Sentences and pairs compared by 64-bit hashes, in little memory however many there are.

A hash is as good as a random number: equal sentences have equal ones, and those that lie in one of R equal ranges are
an R-th of all. So whatever compares all pairs with each other looks at one range after the other, and what it holds at
a time is bounded. In between the hashes lie on disk.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np

HASH = np.dtype("<u8")
Column = Literal["pair", "source", "target"]
COLUMNS: tuple[Column, ...] = ("pair", "source", "target")

_RANGE = 1 << 22  # pairs in a range, at most about so many: sorting them takes 200 MB


def fold(text: str) -> str:
    """The form in which sentences are compared: case folded, without spaces around."""
    return unicodedata.normalize("NFC", text.casefold()).strip()


def hash_pairs(pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """The hashes of pairs and of their folded sentences: a row for each of COLUMNS."""
    hashes = []
    for source, target in pairs:
        # A line feed is the one character that no sentence contains.
        hashes += [_hash(f"{source}\n{target}"), _hash(fold(source)), _hash(fold(target))]
    return np.ascontiguousarray(np.frombuffer(b"".join(hashes), HASH).reshape(-1, len(COLUMNS)).T)


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8"), digest_size=HASH.itemsize).digest()


def hash_folded(texts: Iterable[str]) -> np.ndarray:
    """The hashes of folded sentences, in their order."""
    return np.frombuffer(b"".join(_hash(fold(text)) for text in texts), HASH)


def hash_sentences(pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """The hashes of the folded sentences of both sides, each once and in order."""
    return np.unique(hash_pairs(pairs)[1:])


def are_among(hashes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Which hashes are among those known, which are in order and may be mapped: few of them are looked at."""
    if not len(known):
        return np.zeros(len(hashes), bool)
    places = np.searchsorted(known, hashes)
    return np.asarray(known[np.minimum(places, len(known) - 1)] == hashes)


def hash_ranges(count: int) -> Iterator[tuple[np.uint64, np.uint64]]:
    """The first and the last hash of each range, from the lowest up, in which so many hashes are looked at."""
    ranges = -(-count // _RANGE) or 1
    bounds = [(number << 64) // ranges for number in range(ranges + 1)]
    for first, after in pairwise(bounds):
        yield np.uint64(first), np.uint64(after - 1)


class HashedPairs:
    """The hashes of all pairs of a corpus, in pieces that lie in memory or in files, one beside the other."""

    def __init__(self, pieces: Sequence[np.ndarray | Path]) -> None:
        """A piece is what `hash_pairs` gives, or the file to which that was written."""
        self._pieces = pieces
        self._sizes = [len(piece[0]) if isinstance(piece, np.ndarray) else hashes_in(piece) for piece in pieces]

    def __len__(self) -> int:
        return sum(self._sizes)

    def rows_with(self, columns: Sequence[Column], hashes: np.ndarray) -> np.ndarray:
        """The rows that have one of some hashes, which are in order, in one of the columns."""
        found = [np.empty(0, np.int64)]
        for first, number in self._numbered():
            shares = [are_among(self._column(number, column), hashes) for column in columns]
            found.append(first + np.flatnonzero(np.any(shares, axis=0)))
        return np.concatenate(found)

    def take(self, column: Column, rows: np.ndarray) -> np.ndarray:
        """The hashes of some rows, which are in order."""
        found = [np.empty(0, HASH)]
        for first, number in self._numbered():
            low, high = np.searchsorted(rows, (first, first + self._sizes[number]))
            if low < high:
                found.append(self._column(number, column)[rows[low:high] - first])
        return np.concatenate(found)

    def ranges(self, column: Column, where: np.ndarray | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows in their order and their hashes, one range of hashes after the other; of those that `where` marks."""
        for low, high in hash_ranges(len(self)):
            rows, hashes = [np.empty(0, np.int64)], [np.empty(0, HASH)]
            for first, number in self._numbered():
                values = self._column(number, column)
                is_meant = (values >= low) & (values <= high)
                if where is not None:
                    is_meant &= where[first : first + len(values)]
                places = np.flatnonzero(is_meant)
                rows.append(first + places)
                hashes.append(values[places])
            yield np.concatenate(rows), np.concatenate(hashes)

    def _numbered(self) -> Iterator[tuple[int, int]]:
        """The first row of each piece, and its number."""
        first = 0
        for number, size in enumerate(self._sizes):
            yield first, number
            first += size

    def _column(self, number: int, column: Column) -> np.ndarray:
        piece, size, place = self._pieces[number], self._sizes[number], COLUMNS.index(column)
        if isinstance(piece, np.ndarray):
            return np.asarray(piece[place])
        # Read, not mapped: a corpus may have more pieces than a process may have open files.
        return np.fromfile(piece, HASH, size, offset=place * size * HASH.itemsize)


def hashes_in(file: Path) -> int:
    """Return how many pairs a file of hashes holds."""
    return file.stat().st_size // (len(COLUMNS) * HASH.itemsize)
