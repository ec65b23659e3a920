"""Where the heads of a machine read and wrote in its memory, step after step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.base.figures import quantity

TOUCHED = 0.05  # the weight from which on a slot counts as used
FEWEST_SHOWN = 8  # slots


@dataclass(frozen=True)
class MemoryUse:
    """The weights (head, step, slot) of each head; `given` and `answered` are the numbers of each step, if known."""

    title: str
    steps: list[str]
    heads: list[str]
    weights: np.ndarray
    given: np.ndarray | None = None
    answered: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.weights.ndim != 3 or self.weights.shape[:2] != (len(self.heads), len(self.steps)):
            sizes = f"{len(self.heads)} heads and {len(self.steps)} steps"
            raise ValueError(f"weights of shape {self.weights.shape} do not fit {sizes}")

    @property
    def slots(self) -> list[int]:
        """The slots that are worth showing, in a row: as few as hold all that are used, and some more where few are.

        The last slot is followed by the first, as the slots of a neural Turing machine are.
        """
        count = self.weights.shape[2]
        used = np.flatnonzero(self.weights.max(axis=(0, 1), initial=0.0) >= TOUCHED)
        if not used.size:
            used = np.arange(1)
        gaps = np.diff(used, append=used[0] + count)
        widest = int(gaps.argmax())
        first = int(used[(widest + 1) % used.size])
        length = max(count - int(gaps[widest]) + 1, min(FEWEST_SHOWN, count))
        return [(first + place) % count for place in range(length)]

    def of_head(self, head: int | None) -> "MemoryUse":
        """The same of one head alone, counted from 1; of all where nobody names one."""
        if head is None:
            return self
        if head > len(self.heads):
            raise Fault(f"This model has {quantity(len(self.heads), 'head')}: {', '.join(self.heads)}.")
        only = slice(head - 1, head)
        return MemoryUse(self.title, self.steps, self.heads[only], self.weights[only], self.given, self.answered)


def is_writer(head: str) -> bool:
    """Whether a head writes, by its name."""
    return head.startswith("write")


def to_json(use: MemoryUse) -> dict[str, Any]:
    """The same as plain values, every number as it is."""
    numbers = {"given": use.given, "answered": use.answered}
    return {
        "title": use.title,
        "steps": list(use.steps),
        "heads": list(use.heads),
        "weights": use.weights.tolist(),
        **{name: None if values is None else values.tolist() for name, values in numbers.items()},
    }


def from_json(value: Mapping[str, Any]) -> MemoryUse:
    """What `to_json` was given."""
    given, answered = (None if value[name] is None else np.array(value[name]) for name in ("given", "answered"))
    return MemoryUse(value["title"], value["steps"], value["heads"], np.array(value["weights"]), given, answered)
