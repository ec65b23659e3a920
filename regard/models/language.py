"""What every network of a language model has in common, recurrent or not: tokens and a memory in, states out."""

from typing import NamedTuple, Protocol

from jaxtyping import Float, Int
from torch import Tensor

# What is remembered between two readings: tensors by name, whose first axis are the rows.
Memory = dict[str, Tensor]


class Reading(NamedTuple):
    """What a language model made of some tokens, at each of them, and what it remembers of all."""

    states: Float[Tensor, "row time width"]  # from which the next token is predicted
    undropped: Float[Tensor, "row time width"]  # the same before dropout
    memory: Memory


class LanguageNetwork(Protocol):
    """Predicts each token from those before it; of what it remembers nothing is left in the network itself."""

    carries: bool  # whether a batch of training begins with what the one before it ended with

    @property
    def output_vectors(self) -> Float[Tensor, "token width"]:
        """The rows of V: a token is the more probable, the better its own fits the state."""

    def begin(self, rows: int) -> Memory:
        """What it remembers before it has read anything."""

    def read(self, tokens: Int[Tensor, "row time"], memory: Memory) -> Reading:
        """Read on from what is remembered."""

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """What the probabilities of the next token are the softmax of."""

    def multiplications(self, size: int) -> int:
        """How many a text of so many tokens takes."""
