"""Seeded draws for generated corpora: a seed gives the same corpus with every version of Python."""

import random
from bisect import bisect
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Urn(Generic[Item]):
    """Items to draw from, each with a weight."""

    def __init__(self, weighted: Iterable[tuple[Item, float]]) -> None:
        pairs = [(item, weight) for item, weight in weighted if weight > 0]
        self.items = [item for item, _ in pairs]
        self.bounds = list(accumulate(weight for _, weight in pairs))


class Dice:
    """Draws that depend only on the seed; `random()` is the one method whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def chance(self, share: float) -> bool:
        return self._random() < share

    def pick(self, items: Sequence[Item]) -> Item:
        return items[int(self._random() * len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in random order."""
        remaining = list(items)
        return [remaining.pop(int(self._random() * len(remaining))) for _ in items]

    def draw(self, urn: Urn[Item]) -> Item:
        return urn.items[bisect(urn.bounds, self._random() * urn.bounds[-1])]
