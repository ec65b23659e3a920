"""Shape of a network over sequences: its inputs and outputs."""

from typing import NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

Sequences = Float[Tensor, "batch time depth"]


class SequenceShape(NamedTuple):
    """Length of a sequence, numbers per step, and numbers wanted, at each step or after the last."""

    length: int
    depth: int
    outputs: int
    at_each_step: bool


@runtime_checkable
class SequenceNetwork(Protocol):
    """Reads sequences from beginning to end; what it gives at a step depends on that step and those before it."""

    def __call__(self, inputs: Sequences) -> Float[Tensor, "batch *step output"]: ...
    def multiplications(self, length: int) -> int: ...
