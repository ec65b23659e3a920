"""What hops looked at: the facts of a story, the question and its answer, and the weight of each fact in each hop."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Hops:
    """A story and the weights (hop, fact) that lie on its facts; `forgotten` are the facts before them."""

    facts: list[str]
    question: str
    answer: str
    hops: list[str]
    weights: np.ndarray
    forgotten: list[str]

    def __post_init__(self) -> None:
        if self.weights.shape != (len(self.hops), len(self.facts)):
            raise ValueError(
                f"weights {self.weights.shape} do not fit {len(self.hops)} hops and {len(self.facts)} facts"
            )


def to_json(hops: Hops) -> dict[str, Any]:
    """The same as plain values, every number as it is."""
    return {**vars(hops), "weights": hops.weights.tolist()}


def from_json(value: Mapping[str, Any]) -> Hops:
    """What `to_json` was given."""
    return Hops(**{**value, "weights": np.array(value["weights"])})


def forgotten_in_words(hops: Hops) -> str:
    """That facts are missing, and how many; nothing where none are."""
    count = len(hops.forgotten)
    if not count:
        return ""
    return "1 earlier fact is forgotten" if count == 1 else f"{count} earlier facts are forgotten"
