"""Shape of a network over sequences: its inputs and outputs."""

from typing import NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

Sequences = Float[Tensor, "batch time depth"]


class SequenceShape(NamedTuple):
    """Length of a sequence, numbers per step, and number of outputs, at each step or after the last."""

    length: int
    depth: int
    outputs: int
    at_each_step: bool


@runtime_checkable
class SequenceNetwork(Protocol):
    """Reads sequences from beginning to end; the output at a step depends only on that step and earlier ones."""

    def __call__(self, inputs: Sequences) -> Float[Tensor, "batch *step output"]: ...
    def multiplications(self, length: int) -> int: ...
