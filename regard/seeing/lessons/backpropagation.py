"""Backpropagation through time, written out for the vanilla cell, and what clipping does to its gradients."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from regard.models.recurrent.cells import Weights


class VanillaGradients(NamedTuple):
    """The gradients of a loss by all that a vanilla cell is made of; torch's two biases share one."""

    of_input: Tensor  # ∂L/∂W
    of_state: Tensor  # ∂L/∂U
    bias: Tensor  # ∂L/∂b
    inputs: Tensor  # ∂L/∂x (batch, time, depth)
    start: Tensor  # ∂L/∂h_0 (batch, width)


def backpropagate(
    inputs: Tensor, start: Tensor, hidden: Tensor, upstream: Tensor, weights: Weights
) -> VanillaGradients:
    """All gradients of a loss L over h_k = tanh(a_k), a_k = W x_k + U h_{k−1} + b (Werbos 1990).

    `upstream` (batch, time, width) is what L says of each state directly, leaving aside that later states depend on
    it. With δ_k = ∂L/∂a_k, from the last step to the first,

    δ_k = (upstream_k + Uᵀ δ_{k+1}) ⊙ (1 − h_k²)

    ∂L/∂W = Σ δ_k x_kᵀ    ∂L/∂U = Σ δ_k h_{k−1}ᵀ    ∂L/∂b = Σ δ_k    ∂L/∂x_k = Wᵀ δ_k    ∂L/∂h_0 = Uᵀ δ_1
    """
    from_later = torch.zeros_like(start)
    deltas = []
    for place in reversed(range(hidden.shape[1])):
        delta = (upstream[:, place] + from_later) * (1 - hidden[:, place] ** 2)
        from_later = delta @ weights.of_state
        deltas.append(delta)
    delta = torch.stack(deltas[::-1], dim=1)
    before = torch.cat([start[:, None], hidden[:, :-1]], dim=1)
    return VanillaGradients(
        of_input=torch.einsum("bti,btj->ij", delta, inputs),
        of_state=torch.einsum("bti,btj->ij", delta, before),
        bias=delta.sum(dim=(0, 1)),
        inputs=delta @ weights.of_input,
        start=from_later,
    )


def norm_of(gradients: Sequence[Tensor]) -> Tensor:
    """‖g‖, all gradients taken as one long vector."""
    return torch.stack([gradient.norm() for gradient in gradients]).norm()


def clip(gradients: Sequence[Tensor], max_norm: float) -> list[Tensor]:
    """g ← min(1, max_norm/‖g‖) · g: a shorter step in the same direction (Pascanu et al. 2013, algorithm 1).

    It bounds what explodes. What has vanished it cannot bring back.
    """
    norm = norm_of(gradients)
    if norm <= max_norm:
        return list(gradients)
    return [gradient * (max_norm / norm) for gradient in gradients]
