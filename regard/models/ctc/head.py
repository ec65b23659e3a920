"""A CTC head on an encoder: it places the labels along the source, next to the decoder that writes them in order.

Both learn together (Kim et al. 2017, "Joint CTC-Attention Based End-to-End Speech Recognition"; Watanabe et al. 2017):

    L = λ · L_CTC + (1 − λ) · L_attention

CTC only has left-to-right alignments, so it teaches the encoder to keep the order of its input. Departure: a text
source may have fewer tokens than its target has labels, so each source token becomes several frames.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import note
from regard.attention.masks import real_places
from regard.models.ctc.prefixes import only_real_frames

NOT_WEIGHTS = (
    "This gaze shows probabilities that follow from the model's outputs. They mix nothing, so they cannot be edited; "
    "edit the output or the state of a layer."
)


class CTCHead(nn.Module):
    """log y^t: for each frame the log-probabilities of all tokens and, last, of the blank."""

    def __init__(self, width: int, tokens: int, frames: int) -> None:
        super().__init__()
        self.frames, self.symbols = frames, tokens + 1
        self.out = nn.Linear(width, frames * self.symbols)

    def forward(
        self, states: Float[Tensor, "batch source width"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch frame symbol"]:
        """Return the frames of states with `lengths` real places per row; frames behind them are all blank."""
        logits = self.out(states).unflatten(-1, (self.frames, self.symbols)).flatten(1, 2)
        real = real_places(self.frames * lengths.to(logits.device), logits.shape[1])
        return only_real_frames(logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32)), real)


class Alignment(nn.Module):
    """Where along the source each label begins, given the labels before it; can be watched like an attention.

    It does not depend on later labels, just like a decoder's attention. The remaining weight goes to the end token.
    """

    looks_from, looks_at = "target", "source"
    not_edited = NOT_WEIGHTS

    def forward(self, starts: Sequence[Float[Tensor, "row frame"]], lengths: Int[Tensor, " row"], frames: int) -> None:
        """Note the result of each step; `frames` frames belong to one source token."""
        weights = torch.stack([start.unflatten(1, (-1, frames)).sum(2) for start in starts], dim=1)
        last = (lengths.to(weights.device) - 1)[:, None, None].expand(-1, len(starts), 1)
        weights = weights.scatter_add(2, last, 1 - weights.sum(2, keepdim=True))
        note(self, self.looks_from, self.looks_at, weights[:, None])


def ctc_loss(
    frames: Float[Tensor, "batch frame symbol"],
    lengths: Int[Tensor, " batch"],
    labels: Int[Tensor, "batch label"],
    label_lengths: Int[Tensor, " batch"],
) -> Float[Tensor, ""]:
    """Σ over rows of −log p(labels | frames); rows that are too long for their frames cannot be learnt and count 0."""
    return F.ctc_loss(
        frames.transpose(0, 1),
        labels,
        lengths,
        label_lengths,
        blank=frames.shape[-1] - 1,
        reduction="sum",
        zero_infinity=True,
    )
