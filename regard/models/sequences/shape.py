"""What a network over sequences is given and what it is to give."""

from typing import NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

Sequences = Float[Tensor, "batch time depth"]


class SequenceShape(NamedTuple):
    """How long a sequence is, how many numbers a step has, and how many are wanted, at each step or behind the last."""

    length: int
    depth: int
    outputs: int
    at_each_step: bool


@runtime_checkable
class SequenceNetwork(Protocol):
    """Reads sequences from beginning to end; what it gives at a step depends on that step and those before it."""

    def __call__(self, inputs: Sequences) -> Float[Tensor, "batch *step output"]: ...
    def multiplications(self, length: int) -> int: ...
