"""Collect vectors from a file row by row; unusable rows are left out with a remark, or refused."""

import unicodedata
from collections.abc import Sequence

import numpy as np

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.progress import Progress, Remark
from regard.data.vectors.word_vectors import WordVectors

_BROKEN_SHARE = 0.01  # most words that may be invalid UTF-8, as word2vec leaves them when it truncates words
_FIRST_ROOM = 4096  # rows; memory grows with the rows, whatever a header announces


class Gathering:
    """Words and vectors of one file, in memory that grows in place.

    Words are normalised to NFC, as all text here. If a word occurs twice, the first vector counts, as in gensim. A row
    without a word, or with one that is not UTF-8, is left out. All of this is reported at the end, with the first
    place.
    """

    def __init__(self, name: str, width: int, unit: str, most: int | None, remark: Remark) -> None:
        self.name, self.unit, self.most, self.remark = name, unit, most, remark
        self.words: list[str] = []
        self._matrix = np.empty((_FIRST_ROOM, width), dtype=np.float32)
        self._seen: set[str] = set()
        self._rows = 0  # rows read, including those left out
        self._left_out: dict[str, list[int]] = {"repeat": [], "blank": [], "broken": []}

    @property
    def is_full(self) -> bool:
        """True if the requested number of words is reached."""
        return self.most is not None and len(self.words) >= self.most

    def add(self, words: Sequence[str], rows: np.ndarray, first: int) -> None:
        """Add rows (word, width) whose places in the file are numbered from `first`.

        Invalid UTF-8 bytes are in a word as Python's surrogates.
        """
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            place = first + int(np.argmin(finite))
            raise Fault(f"{self.name}, {self.unit} {place}: a number is not finite, or too large for float32.")
        usable = [row for row, word in enumerate(words) if self._takes(word, first + row)]
        self._rows += len(words)
        end = len(self.words)
        while len(self._matrix) < end:
            # In place: a copy would briefly take the memory of two matrices.
            self._matrix.resize((len(self._matrix) * 3 // 2, self._matrix.shape[1]), refcheck=False)
        self._matrix[end - len(usable) : end] = rows if len(usable) == len(rows) else rows[usable]

    def _takes(self, word: str, place: int) -> bool:
        if self.is_full:
            return False
        word = word if word.isascii() else unicodedata.normalize("NFC", word)
        if not word:
            self._left_out["blank"].append(place)
        elif not word.isascii() and any("\udc80" <= character <= "\udcff" for character in word):
            self._left_out["broken"].append(place)
        elif word in self._seen:
            self._left_out["repeat"].append(place)
        else:
            self._seen.add(word)
            self.words.append(word)
            return True
        return False

    def report(self, progress: Progress, total: int | None) -> None:
        """Report how many rows have been read."""
        progress("reading vectors", self._rows, total)

    def finish(self) -> WordVectors:
        """Return all usable vectors; refuse a file with too many words that are not UTF-8."""
        broken = self._left_out["broken"]
        if len(broken) > _BROKEN_SHARE * self._rows:
            raise Fault(
                f"{self.name}, {self.unit} {broken[0]}: not valid UTF-8, like {len(broken):,} of "
                f"{self._rows:,} words; is the file in another encoding?"
            )
        for kind, what, why in (
            ("broken", "word", "not valid UTF-8"),
            ("repeat", "repeated word", "only the first vector of a word counts"),
            ("blank", "vector", "without a word"),
        ):
            if places := self._left_out[kind]:
                left_out = f"left out {quantity(len(places), what)} ({why})"
                self.remark(f"{self.name}: {left_out}, the first in {self.unit} {places[0]}")
        if not self.words:
            raise Fault(f"{self.name} holds no word vectors.")
        self._matrix.resize((len(self.words), self._matrix.shape[1]), refcheck=False)
        return WordVectors(self.words, self._matrix)
