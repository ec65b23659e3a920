"""Word look-up: the neighbours of a word, and analogies."""

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
    """The words nearest to a word by cosine; `word` is the vocabulary word used for the query, in its own case."""

    query: str
    word: str
    neighbours: list[tuple[str, float]]

    def __repr__(self) -> str:
        return f"NeighboursOfWord({self.word!r}: {_in_brief(self.neighbours)})"

    def _repr_html_(self) -> str:
        return paragraph(self.word) + ranked(self.neighbours)

    def as_dict(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "word": self.word,
            "neighbours": [list(neighbour) for neighbour in self.neighbours],
        }


@dataclass(frozen=True)
class SolvedAnalogy:
    """The words that are to the third of three words as the second is to the first, best first."""

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
        neighbours = [list(neighbour) for neighbour in self.neighbours]
        return {"words": list(self.words), "word": self.word, "neighbours": neighbours}


@dataclass(frozen=True)
class FoundWord:
    """A word with its vector, from the vocabulary or composed."""

    word: str
    vector: np.ndarray
    row: int | None  # in the matrix, if the word is in the vocabulary


class Lexicon:
    """Named word vectors, and optionally a function that composes vectors of unknown words.

    A word is looked up in NFC as written, and then ignoring case; if it is still unknown, its vector is composed if
    possible. Either fallback prints a remark. Any other word is refused, with suggestions of similar spelling.
    """

    def __init__(self, name: str, vectors: WordVectors, compose: Compose | None = None) -> None:
        self.name, self.vectors, self.compose = name, vectors, compose

    def neighbours(self, words: Sequence[str], count: int, remark: Remark = ignore_remark) -> list[NeighboursOfWord]:
        """Return the nearest words of each word, without the word itself."""
        return [
            NeighboursOfWord(query, word.word, self._nearest(word.vector, [word], count))
            for query, word in zip(words, self.find(words, remark), strict=True)
        ]

    def analogy(self, words: tuple[str, str, str], count: int, remark: Remark = ignore_remark) -> SolvedAnalogy:
        """Return the words that are to c as b is to a: nearest to b - a + c in unit vectors, without a, b and c."""
        a, b, c = three = self.find(words, remark)
        vector = _unit(b.vector) - _unit(a.vector) + _unit(c.vector)
        nearest = self._nearest(vector, three, count)
        if not nearest:
            raise Fault(f"{self.name} has no other words than these.")
        return SolvedAnalogy((a.word, b.word, c.word), nearest)

    def find(self, words: Sequence[str], remark: Remark = ignore_remark) -> list[FoundWord]:
        """Look up words and their vectors; refuse an unknown word."""
        return [self._find(word, remark) for word in words]

    def _nearest(self, vector: np.ndarray, without: Sequence[FoundWord], count: int) -> list[tuple[str, float]]:
        between_steps()
        cosines = self.vectors.cosines(vector[None])[0]
        excluded = {word.row for word in without if word.row is not None}
        ordered = largest(cosines, count + len(excluded)).tolist()
        rows = [row for row in ordered if row not in excluded][:count]
        return [(self.vectors.words[row], float(cosines[row])) for row in rows]

    def _find(self, query: str, remark: Remark) -> FoundWord:
        word = unicodedata.normalize("NFC", query.strip())
        row = self.vectors.numbers.get(word)
        if row is not None:
            return self._at(row)
        row = self._by_caseless.get(word.casefold())
        if row is not None:
            remark(f"'{word}' is not in the vocabulary; '{self.vectors.words[row]}' is used instead")
            return self._at(row)
        vector = self.compose(word) if word and self.compose else None
        if vector is None:
            raise self._refusal(word)
        remark(f"'{word}' is not in the vocabulary; its vector is composed from its character n-grams")
        return FoundWord(word, vector, None)

    def _at(self, row: int) -> FoundWord:
        return FoundWord(self.vectors.words[row], self.vectors.matrix[row], row)

    @cached_property
    def _by_caseless(self) -> dict[str, int]:
        """The row of the most frequent word for each spelling, ignoring case."""
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
        names = ", ".join(f"'{self.vectors.words[self._by_caseless[match[0]]]}'" for match in near)
        hint = f"; did you mean {names}?" if names else "."
        return Fault(f"The word '{word[:_LONGEST_SHOWN]}' is not among the {len(self.vectors):,} of {self.name}{hint}")


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Return the indices of the largest values, largest first, with ties in their order.

    The result equals that of a stable sort, but most values are never sorted.
    """
    if count < len(values):
        least = np.partition(-values, count - 1)[count - 1]
        places = np.flatnonzero(-values <= least)
        if len(places) >= count:  # fewer if some values are NaN
            return places[np.argsort(-values[places], kind="stable")][:count]
    return np.argsort(-values, kind="stable")[:count]


def _in_brief(neighbours: Sequence[tuple[str, float]]) -> str:
    shown = ", ".join(f"{word} {cosine:.2f}" for word, cosine in neighbours[:3])
    return f"{shown}, …" if len(neighbours) > 3 else shown


def _unit(vector: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vector)
    return vector / length if length else vector
