"""Protocol of language-model networks, recurrent or not: tokens and a memory in, states out."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

TEXT = "text"  # name of the side that attentions of language models look from and at

NEVER = -1e9  # added to the logit of a token that is never written

# Memory between two readings: tensors by name, whose first axis is the rows.
Memory = dict[str, Tensor]


class Reading(NamedTuple):
    """Result of reading some tokens: the state at each, and the memory of all."""

    states: Float[Tensor, "row time width"]  # from which the next token is predicted
    undropped: Float[Tensor, "row time width"]  # the same before dropout
    memory: Memory


@runtime_checkable
class LanguageNetwork(Protocol):
    """Predicts each token from those before it; all memory is passed in and out, none stays in the network."""

    carries: bool  # True if a training batch starts with the memory that the previous one ended with
    has_caches: ClassVar[bool]  # True if its memory is caches, for which room can be reserved
    never: tuple[int, ...]  # tokens that are never written

    @property
    def context(self) -> int | None:
        """Number of tokens it can look back, the newest one included; None if nothing is forgotten by rule."""

    @property
    def stops_when_full(self) -> bool:
        """True if texts end where the context is full and longer ones are refused; False if it forgets."""

    @property
    def overlap(self) -> int:
        """Number of tokens by which windows overlap when text is scored in windows."""

    @property
    def output_vectors(self) -> Float[Tensor, "token width"]:
        """Rows of the output matrix V: the logit of a token is the product of its row with the state."""

    @property
    def output_biases(self) -> Float[Tensor, " token"] | None:
        """Number added to the logit of each token, very low for tokens that are never written; None for zeros."""

    def begin(self, rows: int) -> Memory:
        """Return the memory before anything is read."""

    def join(self, memories: Sequence[Memory]) -> Memory:
        """Join the rows of several memories, which may have read different numbers of tokens."""

    def read(self, tokens: Int[Tensor, "row time"], memory: Memory) -> Reading:
        """Read tokens after those in the memory."""

    def forgotten(self, read: int) -> int:
        """Return how many of `read` consecutive tokens are forgotten by rule."""

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """Return the logits of the next token."""

    def cross_entropy(
        self, states: Float[Tensor, "row time width"], wanted: Int[Tensor, "row time"]
    ) -> Float[Tensor, ""]:
        """Return Σ −log p of the wanted token after each state."""

    def multiplications(self, size: int) -> int:
        """Return the multiplications for a text of `size` tokens."""

    def layers(self, tokens: Int[Tensor, "row time"]) -> list[Float[Tensor, "row time width"]]:
        """Return the vectors of each token: its embedding, then the output of every layer; [] if it has none."""
