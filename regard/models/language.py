"""What every network of a language model has in common, recurrent or not: tokens and a memory in, states out."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

TEXT = "text"  # the one side that those which look have: it looks at itself

# What is remembered between two readings: tensors by name, whose first axis are the rows.
Memory = dict[str, Tensor]


class Reading(NamedTuple):
    """What a language model made of some tokens, at each of them, and what it remembers of all."""

    states: Float[Tensor, "row time width"]  # from which the next token is predicted
    undropped: Float[Tensor, "row time width"]  # the same before dropout
    memory: Memory


@runtime_checkable
class LanguageNetwork(Protocol):
    """Predicts each token from those before it; of what it remembers nothing is left in the network itself."""

    carries: bool  # whether a batch of training begins with what the one before it ended with
    has_caches: ClassVar[bool]  # whether it remembers in caches, for which room can be reserved
    never: tuple[int, ...]  # tokens that are never written

    @property
    def context(self) -> int | None:
        """How many tokens back it can remember, the last one counted; None where nothing is forgotten by rule."""

    @property
    def stops_when_full(self) -> bool:
        """Whether texts end where the context is full and longer ones are refused; otherwise it forgets."""

    @property
    def overlap(self) -> int:
        """How many tokens of a window stood in the one before it, where text is measured in windows."""

    @property
    def output_vectors(self) -> Float[Tensor, "token width"]:
        """The rows of V: a token is the more probable, the better its own fits the state."""

    def begin(self, rows: int) -> Memory:
        """What it remembers before it has read anything."""

    def join(self, memories: Sequence[Memory]) -> Memory:
        """What is remembered in the rows of several memories, which may have read different numbers of tokens."""

    def read(self, tokens: Int[Tensor, "row time"], memory: Memory) -> Reading:
        """Read on from what is remembered."""

    def forgotten(self, read: int) -> int:
        """How many of so many tokens that were read one after another are forgotten by rule."""

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """What the probabilities of the next token are the softmax of."""

    def cross_entropy(
        self, states: Float[Tensor, "row time width"], wanted: Int[Tensor, "row time"]
    ) -> Float[Tensor, ""]:
        """Σ −log p of the tokens that are wanted after each state."""

    def multiplications(self, size: int) -> int:
        """How many a text of so many tokens takes."""

    def layers(self, tokens: Int[Tensor, "row time"]) -> list[Float[Tensor, "row time width"]]:
        """What is known at each token: its embedding alone, then what every layer makes of it; none to hand out: []."""
