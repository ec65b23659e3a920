"""Words that can be asked about: the neighbours of one, and what stands to one as two others stand to each other."""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.base.notebook import paragraph, ranked
from regard.base.pauses import between_steps
from regard.base.progress import Remark, ignore_remark
from regard.data.vectors.word_vectors import WordVectors

_MOST_SUGGESTED = 4
_LIKE_ENOUGH = 70  # of 100, in rapidfuzz's ratio
_LONGEST_SHOWN = 60

Compose = Callable[[str], "np.ndarray | None"]


@dataclass(frozen=True)
class NeighboursOfWord:
    """The words nearest to one, by cosine; `word` is what stood for the query, perhaps the same in another case."""

    query: str
    word: str
    neighbours: list[tuple[str, float]]

    def __repr__(self) -> str:
        return f"NeighboursOfWord({self.word!r}: {_in_brief(self.neighbours)})"

    def _repr_html_(self) -> str:
        return paragraph(self.word) + ranked(self.neighbours)

    def as_dict(self) -> dict[str, Any]:
        return {"query": self.query, "word": self.word, "neighbours": [list(each) for each in self.neighbours]}


@dataclass(frozen=True)
class SolvedAnalogy:
    """The words that stand to the third of three words as the second stands to the first, the best one first."""

    words: tuple[str, str, str]
    neighbours: list[tuple[str, float]]

    @property
    def word(self) -> str:
        return self.neighbours[0][0]

    def __repr__(self) -> str:
        a, b, c = self.words
        return f"SolvedAnalogy({a!r} is to {b!r} as {c!r} is to {_in_brief(self.neighbours)})"

    def _repr_html_(self) -> str:
        a, b, c = self.words
        return paragraph(f"{a} is to {b} as {c} is to") + ranked(self.neighbours)

    def as_dict(self) -> dict[str, Any]:
        neighbours = [list(each) for each in self.neighbours]
        return {"words": list(self.words), "word": self.word, "neighbours": neighbours}


@dataclass(frozen=True)
class FoundWord:
    """A word that has a vector, of its own or composed."""

    word: str
    vector: np.ndarray
    row: int | None  # of the matrix, if it is a word of the vocabulary


class Lexicon:
    """Word vectors under a name, and perhaps a way to compose vectors of words that have none.

    A word is looked up in NFC as it is written, and then in another case; what is not found so is composed, if that is
    possible. A remark tells of either. Any other word is refused, with some that are spelled like it.
    """

    def __init__(self, name: str, vectors: WordVectors, compose: Compose | None = None) -> None:
        self.name, self.vectors, self.compose = name, vectors, compose

    def neighbours(self, words: Sequence[str], count: int, remark: Remark = ignore_remark) -> list[NeighboursOfWord]:
        """The nearest words of each word, itself left out."""
        return [
            NeighboursOfWord(query, each.word, self._nearest(each.vector, [each], count))
            for query, each in zip(words, self.find(words, remark), strict=True)
        ]

    def analogy(self, words: tuple[str, str, str], count: int, remark: Remark = ignore_remark) -> SolvedAnalogy:
        """Find what is to c as b is to a: nearest to b - a + c, vectors of length 1, none of the three itself."""
        a, b, c = found = self.find(words, remark)
        vector = _unit(b.vector) - _unit(a.vector) + _unit(c.vector)
        nearest = self._nearest(vector, found, count)
        if not nearest:
            raise Fault(f"{self.name} has no other words than these.")
        return SolvedAnalogy((a.word, b.word, c.word), nearest)

    def find(self, words: Sequence[str], remark: Remark = ignore_remark) -> list[FoundWord]:
        """Words as they are known here, with their vectors; one that is not known is refused."""
        return [self._find(word, remark) for word in words]

    def _nearest(self, vector: np.ndarray, without: Sequence[FoundWord], count: int) -> list[tuple[str, float]]:
        between_steps()
        cosines = self.vectors.cosines(vector[None])[0]
        left_out = {each.row for each in without if each.row is not None}
        ordered = largest(cosines, count + len(left_out)).tolist()
        kept = [row for row in ordered if row not in left_out][:count]
        return [(self.vectors.words[row], float(cosines[row])) for row in kept]

    def _find(self, query: str, remark: Remark) -> FoundWord:
        word = unicodedata.normalize("NFC", query.strip())
        row = self.vectors.numbers.get(word)
        if row is not None:
            return self._at(row)
        row = self._by_caseless.get(word.casefold())
        if row is not None:
            remark(f"'{word}' is not known, but '{self.vectors.words[row]}' is, and stands for it")
            return self._at(row)
        vector = self.compose(word) if word and self.compose else None
        if vector is None:
            raise self._refusal(word)
        remark(f"'{word}' is not in the vocabulary; its vector is composed of its character n-grams")
        return FoundWord(word, vector, None)

    def _at(self, row: int) -> FoundWord:
        return FoundWord(self.vectors.words[row], self.vectors.matrix[row], row)

    @cached_property
    def _by_caseless(self) -> dict[str, int]:
        """The row of the most frequent word of each spelling, whatever its case."""
        rows: dict[str, int] = {}
        for row, word in enumerate(self.vectors.words):
            rows.setdefault(word.casefold(), row)
        return rows

    def _refusal(self, word: str) -> Fault:
        from rapidfuzz import process
        from rapidfuzz.fuzz import ratio

        plain = word.casefold()
        near = process.extract(
            plain, self._by_caseless.keys(), scorer=ratio, limit=_MOST_SUGGESTED, score_cutoff=_LIKE_ENOUGH
        )
        names = ", ".join(f"'{self.vectors.words[self._by_caseless[each[0]]]}'" for each in near)
        meant = f"; did you mean {names}?" if names else "."
        return Fault(f"The word '{word[:_LONGEST_SHOWN]}' is not among the {len(self.vectors):,} of {self.name}{meant}")


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Return the places of the largest values, the largest first and equal ones in their order.

    They are those of a stable sort of all, of which most are never sorted.
    """
    if count < len(values):
        least = np.partition(-values, count - 1)[count - 1]
        places = np.flatnonzero(-values <= least)
        if len(places) >= count:  # fewer where some are no numbers
            return places[np.argsort(-values[places], kind="stable")][:count]
    return np.argsort(-values, kind="stable")[:count]


def _in_brief(neighbours: Sequence[tuple[str, float]]) -> str:
    shown = ", ".join(f"{word} {cosine:.2f}" for word, cosine in neighbours[:3])
    return f"{shown}, …" if len(neighbours) > 3 else shown


def _unit(vector: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vector)
    return vector / length if length else vector
