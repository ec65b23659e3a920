"""Vectors as they come out of a file, row by row: what cannot be used is left out and told, or refused."""

import unicodedata
from collections.abc import Sequence

import numpy as np

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.vectors.word_vectors import WordVectors

_BROKEN_SHARE = 0.01  # of the words may be no UTF-8, as word2vec leaves them where it cuts long words; of more is none
_FIRST_ROOM = 4096  # rows; whatever a header promises, memory is taken as rows come


class Gathering:
    """Words and vectors of one file, in memory that grows in place.

    Words are brought to NFC, as all text here. Of a word that comes twice the first vector counts, as for gensim. A row
    without a word, or with a word that is not UTF-8, is left out. All of that is told at the end, with the first place.
    """

    def __init__(self, name: str, width: int, unit: str, most: int | None, remark: Remark) -> None:
        self.name, self.unit, self.most, self.remark = name, unit, most, remark
        self.words: list[str] = []
        self._matrix = np.empty((_FIRST_ROOM, width), dtype=np.float32)
        self._seen: set[str] = set()
        self._rows = 0  # that were read, those left out included
        self._left_out: dict[str, list[int]] = {"repeat": [], "blank": [], "broken": []}

    @property
    def is_full(self) -> bool:
        """True if there are as many words as were asked for."""
        return self.most is not None and len(self.words) >= self.most

    def add(self, words: Sequence[str], rows: np.ndarray, first: int) -> None:
        """Take rows (word, width) whose places in the file are numbered from `first`.

        Bytes that are no UTF-8 are in a word as Python's surrogates.
        """
        finite = np.isfinite(rows).all(axis=1)
        if not finite.all():
            place = first + int(np.argmin(finite))
            raise Fault(f"{self.name}, {self.unit} {place}: a number is not finite, or too large for float32.")
        taken = [row for row, word in enumerate(words) if self._takes(word, first + row)]
        self._rows += len(words)
        end = len(self.words)
        while len(self._matrix) < end:
            # In place: a copy would for a while take the memory of two matrices.
            self._matrix.resize((len(self._matrix) * 3 // 2, self._matrix.shape[1]), refcheck=False)
        self._matrix[end - len(taken) : end] = rows if len(taken) == len(rows) else rows[taken]

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
        """Say how many rows have been read."""
        progress("reading vectors", self._rows, total)

    def finish(self) -> WordVectors:
        """All vectors that can be used; a file most of whose words are no UTF-8 is refused."""
        broken = self._left_out["broken"]
        if len(broken) > _BROKEN_SHARE * self._rows:
            raise Fault(
                f"{self.name}, {self.unit} {broken[0]}: not valid UTF-8, as {len(broken):,} of {self._rows:,} words; "
                "is the file in another encoding?"
            )
        for kind, why in (
            ("broken", "words that are not valid UTF-8"),
            ("repeat", "words that came before, of which the first vector counts"),
            ("blank", "vectors without a word"),
        ):
            if places := self._left_out[kind]:
                self.remark(f"{self.name}: left out {len(places):,} {why}, the first in {self.unit} {places[0]}")
        if not self.words:
            raise Fault(f"{self.name} holds no word vectors.")
        self._matrix.resize((len(self.words), self._matrix.shape[1]), refcheck=False)
        return WordVectors(self.words, self._matrix)
