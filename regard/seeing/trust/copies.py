"""Truth of machines that copy: the item that an output repeats."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.data.algorithms.options import AlgorithmData
from regard.data.algorithms.spelling import write_items
from regard.loading import Loaded
from regard.seeing.trust.known import KnownDecision
from regard.seeing.why.decision import Question

_SEED = 19
_EXAMPLES = 500


@dataclass(frozen=True)
class CopiedItem:
    """The true unit of output item t is input item t."""

    data: AlgorithmData
    name: str = "the item that is copied"

    @classmethod
    def of(cls, model: Loaded) -> "CopiedItem | None":
        """Return the truth of a model that learnt to copy."""
        data = model.recipe.data
        return cls(data) if data.algorithm == "copy" else None

    def decisions(self) -> Iterator[KnownDecision]:
        """Yield one output of each example, by turns an earlier or a later one, with as many items as the test has."""
        held_out = self.data.held_out("test")
        lengths = held_out.items if held_out else [self.data.most]
        for number in range(_EXAMPLES):
            length = lengths[number % len(lengths)]
            bits = np.random.default_rng([_SEED, number]).integers(2, size=(length, self.data.bits))
            yield KnownDecision(write_items(bits, self.data), place=number // len(lengths) % length)

    def units(self, item: Any, question: Question) -> frozenset[int] | None:
        items = str(item).split()
        # A machine reads all units, the items and a marker, before it answers; its places count all steps.
        places = [step - len(question.names) for step in question.queries or ()]
        is_right = [items[place] for place in places if 0 <= place < len(items)] == [question.chosen]
        return frozenset(places) if is_right else None
