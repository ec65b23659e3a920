"""Dropout of recurrent networks: one mask for all time steps, for whole words, or for weights."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class LockedDropout(nn.Module):
    """Dropout with one mask for all time steps of a row (Gal and Ghahramani 2016, called variational there)."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, states: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        if not self.training or not self.share:
            return states
        return states * F.dropout(states.new_ones(states.shape[0], 1, states.shape[2]), self.share)

    def extra_repr(self) -> str:
        return f"share={self.share}"


def drop_words(embeddings: Float[Tensor, "token width"], share: float) -> Float[Tensor, "token width"]:
    """Set the embeddings of a share of all words to zero wherever they occur, and scale up the others.

    Gal and Ghahramani 2016, section 4.2; Merity et al. 2018, section 4.3.
    """
    return embeddings * F.dropout(embeddings.new_ones(len(embeddings), 1), share)
