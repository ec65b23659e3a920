"""Inputs and outputs of every network that writes captions."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

Annotations = Float[Tensor, "batch place depth"]  # of a picture: one vector for each place of its grid


class Written(NamedTuple):
    """The states from which words are written, where the decoder then stands, and what its attention did on the way.

    `weights` is where each step looked; log-probability and entropy are of places that were drawn. What a network has
    not is empty.
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
        """True if the places looked at are drawn in training, so that their choice must be learnt too."""

    def read(self, annotations: Annotations) -> Any:
        """Return what the decoder may know of each picture."""

    def begin(self, memory: Any) -> Any:
        """Where the decoder stands before its first word."""

    def write(self, target: Int[Tensor, "row time"], memory: Any, past: Any) -> Written:
        """Read these words, each the one before the word to be written."""

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """The score of every word at every place."""
