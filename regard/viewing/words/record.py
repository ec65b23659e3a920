"""What a map of words shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class WordMap:
    """Words at places in the plane (word, 2), in the order in which they get their names written.

    `groups` says for each word which of `centres` it was brought in by, or -1; `near` gives for each word those of the
    others that are nearest to it before they were laid out, as numbers with their cosines.
    """

    title: str
    variance: float | None  # the share of it that two principal components keep; None of a map by t-SNE
    words: Sequence[str]
    places: np.ndarray
    centres: Sequence[str]
    groups: Sequence[int]
    near: Sequence[Sequence[tuple[int, float]]]

    @property
    def method(self) -> str:
        """How the places were found, in words."""
        if self.variance is None:
            return "t-SNE: neighbours lie together, distances between groups mean little"
        return f"two principal components, which keep {self.variance:.0%} of the variance"

    def fitted(self) -> np.ndarray:
        """The places with the middle at 0 and the farthest coordinate at 1, one scale for both axes."""
        low, high = self.places.min(axis=0), self.places.max(axis=0)
        reach = float((high - low).max()) / 2
        return (self.places - (low + high) / 2) / (reach or 1.0)


def to_json(record: WordMap) -> dict[str, Any]:
    """A map as plain values."""
    words = [
        {
            "word": word,
            "place": [round(float(value), 6) for value in place],
            "group": record.centres[group] if group >= 0 else None,
            "neighbours": [[record.words[other], round(cosine, 6)] for other, cosine in near],
        }
        for word, place, group, near in zip(record.words, record.places, record.groups, record.near, strict=True)
    ]
    return {"title": record.title, "method": record.method, "words": words}
