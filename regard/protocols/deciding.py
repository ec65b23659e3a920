"""Capability of tasks that can be asked why: one decision as a function of its input vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from regard.viewing.sides import Side


@dataclass(frozen=True)
class Decision:
    """One decision of a task: which units of the input made it choose this output?

    `inputs` (unit, depth) are the vectors of the units before anything reads them. `log_probability` maps copies of
    them (copy, unit, depth) to the log-probability (copy) of what was chosen; it is differentiable and deterministic,
    and copies do not influence each other.
    """

    names: Sequence[str]  # of the units
    chosen: str  # the output that is explained
    inputs: Tensor
    log_probability: Callable[[Tensor], Tensor]
    # The log-probability with these units taken out of the input itself; None if `inseparable` says why not.
    without: Callable[[Sequence[int]], float] | None = None
    inseparable: str = ""
    baseline: Tensor | None = None  # vectors that say nothing; None: zeros
    side: Side | None = None  # the units as they are drawn; None: words with their names
    text: str = ""  # the input for people, if it is not the input itself
    output: str = ""  # the whole output, if it is more than what was chosen
    queries: Sequence[int] | None = None  # the places in its gazes that look when it decides; None: all
    keys: Sequence[int] | None = None  # the places of the units in its gazes, if others precede them


@runtime_checkable
class Decides(Protocol):
    """Can be asked why it chose an output for one input, by default its own.

    Among several parts of an output `place` (counted from 0) or `word` chooses one; by default it is the last.
    """

    def decision(self, item: Any, output: str | None, place: int | None, word: str | None) -> Decision: ...
