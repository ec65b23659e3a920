"""One word in several contexts, and in every layer the plane in which its vectors differ most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.viewing.plane import Plane, principal_plane

_NEAR = 5  # words on either side of the word that are shown


@dataclass(frozen=True)
class Occurrence:
    """The word at one place of a text: the words of the text, which of them it is, and the number of the text."""

    words: Sequence[str]
    place: int
    text: int

    @property
    def snippet(self) -> tuple[str, str, str]:
        """What stands before it, the word, and what stands after it, a few words on either side."""
        first, last = max(0, self.place - _NEAR), self.place + 1 + _NEAR
        before, after = self.words[first : self.place], self.words[self.place + 1 : last]
        return (
            " ".join(["…", *before] if first else before),
            self.words[self.place],
            " ".join([*after, "…"] if last < len(self.words) else after),
        )


@dataclass(frozen=True)
class ContextLayer:
    """The vectors of all occurrences in one layer: where they lie in their plane, and how alike any two of them are."""

    number: int
    plane: Plane
    cosines: np.ndarray  # (occurrence, occurrence)

    @classmethod
    def of(cls, number: int, vectors: np.ndarray) -> "ContextLayer":
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        directions = vectors / np.where(lengths > 0, lengths, 1.0)
        return cls(number, principal_plane(vectors), directions @ directions.T)

    @property
    def is_one_point(self) -> bool:
        """Whether all vectors are the same, as plain embeddings of one word are."""
        return self.plane.shares == (0.0, 0.0)

    @property
    def nearest(self) -> list[int] | None:
        """For each occurrence the one whose vector is most like its own; none where all are the same."""
        if self.is_one_point:
            return None
        others = self.cosines - 3 * np.eye(len(self.cosines))  # nobody is their own neighbour
        return others.argmax(axis=1).tolist()

    @property
    def title(self) -> str:
        if self.is_one_point:
            return f"layer {self.number}: one vector for all"
        return f"layer {self.number} ({100 * sum(self.plane.shares):.0f}% of the variance)"


@dataclass(frozen=True)
class WordContexts:
    """One word, its occurrences, and the layers from the lowest up."""

    word: str
    occurrences: list[Occurrence]
    layers: list[ContextLayer]

    @property
    def title(self) -> str:
        return f"'{self.word}' in {len(self.occurrences)} contexts"

    def line(self, number: int) -> str:
        """An occurrence in a line of text, with the word between signs."""
        before, word, after = self.occurrences[number].snippet
        return f"{before} »{word}« {after}".strip()


def contexts_to_json(contexts: WordContexts) -> dict[str, Any]:
    """The same as plain values, every number as it is."""
    return {
        "word": contexts.word,
        "contexts": [
            dict(zip(("before", "word", "after"), each.snippet, strict=True), text=each.text, place=each.place)
            for each in contexts.occurrences
        ],
        "layers": [
            {
                "layer": layer.number,
                "points": layer.plane.points.tolist(),
                "shares": list(layer.plane.shares),
                "nearest": layer.nearest,
                "cosines": layer.cosines.tolist(),
            }
            for layer in contexts.layers
        ],
    }
