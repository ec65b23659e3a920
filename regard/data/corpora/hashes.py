"""Compare sentences and pairs by 64-bit hashes, in little memory however many there are.

Hashes behave like random numbers: equal sentences have equal hashes, and each of R equal ranges holds an R-th of them.
So whatever compares all pairs works range by range, in bounded memory. In between, the hashes lie on disk.
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

_RANGE = 1 << 22  # approximate pairs in a range: sorting them takes 200 MB


def fold(text: str) -> str:
    """Return the form in which sentences are compared: case folded, without surrounding spaces."""
    return unicodedata.normalize("NFC", text.casefold()).strip()


def hash_pairs(pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """Return the hashes of pairs and of their folded sentences: a row for each of COLUMNS."""
    hashes = []
    for source, target in pairs:
        # A line feed is the only character that no sentence contains.
        hashes += [_hash(f"{source}\n{target}"), _hash(fold(source)), _hash(fold(target))]
    return np.ascontiguousarray(np.frombuffer(b"".join(hashes), HASH).reshape(-1, len(COLUMNS)).T)


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8"), digest_size=HASH.itemsize).digest()


def hash_folded(texts: Iterable[str]) -> np.ndarray:
    """Return the hashes of folded sentences, in order."""
    return np.frombuffer(b"".join(_hash(fold(text)) for text in texts), HASH)


def hash_sentences(pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """Return the distinct hashes of the folded sentences of both sides, sorted."""
    return np.unique(hash_pairs(pairs)[1:])


def are_among(hashes: np.ndarray, sorted_hashes: np.ndarray) -> np.ndarray:
    """Return a mask of the hashes that are in `sorted_hashes`, which may be mapped: few of its pages are read."""
    if not len(sorted_hashes):
        return np.zeros(len(hashes), bool)
    places = np.searchsorted(sorted_hashes, hashes)
    return np.asarray(sorted_hashes[np.minimum(places, len(sorted_hashes) - 1)] == hashes)


def hash_ranges(count: int) -> Iterator[tuple[np.uint64, np.uint64]]:
    """Yield the first and last hash of each range, from the lowest up, for `count` hashes."""
    ranges = -(-count // _RANGE) or 1
    bounds = [(number << 64) // ranges for number in range(ranges + 1)]
    for first, after in pairwise(bounds):
        yield np.uint64(first), np.uint64(after - 1)


class HashedPairs:
    """Hashes of all pairs of a corpus, in pieces that lie in memory or in files, in order."""

    def __init__(self, pieces: Sequence[np.ndarray | Path]) -> None:
        """Take pieces as `hash_pairs` returns them, or files they were written to."""
        self._pieces = pieces
        self._sizes = [len(piece[0]) if isinstance(piece, np.ndarray) else hashes_in(piece) for piece in pieces]

    def __len__(self) -> int:
        return sum(self._sizes)

    def rows_with(self, columns: Sequence[Column], hashes: np.ndarray) -> np.ndarray:
        """Return the rows with one of the sorted `hashes` in one of the columns."""
        parts = [np.empty(0, np.int64)]
        for first, number in self._numbered():
            shares = [are_among(self._column(number, column), hashes) for column in columns]
            parts.append(first + np.flatnonzero(np.any(shares, axis=0)))
        return np.concatenate(parts)

    def take(self, column: Column, rows: np.ndarray) -> np.ndarray:
        """Return the hashes of the given rows, which are sorted."""
        parts = [np.empty(0, HASH)]
        for first, number in self._numbered():
            low, high = np.searchsorted(rows, (first, first + self._sizes[number]))
            if low < high:
                parts.append(self._column(number, column)[rows[low:high] - first])
        return np.concatenate(parts)

    def ranges(self, column: Column, where: np.ndarray | None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield rows in order and their hashes, range by range; only rows that `where` marks."""
        for low, high in hash_ranges(len(self)):
            rows, hashes = [np.empty(0, np.int64)], [np.empty(0, HASH)]
            for first, number in self._numbered():
                values = self._column(number, column)
                is_inside = (values >= low) & (values <= high)
                if where is not None:
                    is_inside &= where[first : first + len(values)]
                places = np.flatnonzero(is_inside)
                rows.append(first + places)
                hashes.append(values[places])
            yield np.concatenate(rows), np.concatenate(hashes)

    def _numbered(self) -> Iterator[tuple[int, int]]:
        """Yield the first row of each piece and the piece's number."""
        first = 0
        for number, size in enumerate(self._sizes):
            yield first, number
            first += size

    def _column(self, number: int, column: Column) -> np.ndarray:
        piece, size, place = self._pieces[number], self._sizes[number], COLUMNS.index(column)
        if isinstance(piece, np.ndarray):
            return np.asarray(piece[place])
        # Read instead of mapped: a corpus may have more pieces than a process may open files.
        return np.fromfile(piece, HASH, size, offset=place * size * HASH.itemsize)


def hashes_in(file: Path) -> int:
    """Return the number of pairs in a file of hashes."""
    return file.stat().st_size // (len(COLUMNS) * HASH.itemsize)
