"""Attention rollout: how much of each input place reaches each place above all blocks."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor


def roll_out(blocks: Sequence[Float[Tensor, "batch _ place place"]]) -> Float[Tensor, "batch place place"]:
    """Â_L · … · Â_1 with Â = (A + I) / 2 and A the mean of a block's heads (Abnar and Zuidema 2020, section 3).

    The identity stands for the residual connection, which carries each place's state past the attention. Rows of the
    result sum to one, as those of A do.
    """
    reached = torch.eye(blocks[0].shape[-1], dtype=blocks[0].dtype, device=blocks[0].device).expand(
        blocks[0].shape[0], -1, -1
    )
    for weights in blocks:
        reached = (weights.mean(dim=1) @ reached + reached) / 2
    return reached
