"""Inputs and outputs of every network that writes captions."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

Annotations = Float[Tensor, "batch place depth"]  # of a picture: one vector for each place of its grid


class Written(NamedTuple):
    """States from which words are written, the decoder's new state, and the results of its attention.

    `weights` says where each step looked; log-probability and entropy belong to sampled places. Fields that a network
    does not have are empty.
    """

    states: Float[Tensor, "row time width"]
    past: Any
    weights: Float[Tensor, "row time seen"]
    log_probability: Float[Tensor, "row drawn"]
    entropy: Float[Tensor, "row drawn"]


@runtime_checkable
class CaptionNetwork(Protocol):
    """Protocol of captioning networks."""

    @property
    def evenness(self) -> float:
        """Weight in the loss of attention spread unevenly over the places, or 0."""

    @property
    def chooses(self) -> bool:
        """True if the places it looks at are sampled in training, so that choosing must be learnt too."""

    def read(self, annotations: Annotations, kept: Sequence[int] | None = None) -> Any:
        """Return what the decoder may read of each picture; `kept` numbers its places if some are missing."""

    def begin(self, memory: Any) -> Any:
        """Return the decoder's state before its first word."""

    def write(self, target: Int[Tensor, "row time"], memory: Any, past: Any) -> Written:
        """Write from input words, each of which precedes the word to write."""

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """Return the score of every word at every place."""
