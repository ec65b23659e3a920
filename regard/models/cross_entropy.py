"""The cross-entropy of an output layer, computed a few rows at a time and its gradient with it.

With a large vocabulary the logits of a batch are by far the largest tensor there is, and torch keeps several of that
size between forward and backward. Here each portion of rows is projected, scored and turned into its gradients at once,
so that no more than one portion's logits ever exist.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

PORTION = {"cpu": 2**23, "cuda": 2**27}  # logits that exist at once


def projected_cross_entropy(
    states: Float[Tensor, "place width"],
    weight: Float[Tensor, "token width"],
    wanted: Int[Tensor, " place"],
    label_smoothing: float,
) -> Float[Tensor, ""]:
    """Σ over places of −(1−ε) log p(wanted) − ε/V Σ log p, with p = softmax(states · weightᵀ) and ε the smoothing."""
    rows = max(1, PORTION.get(states.device.type, PORTION["cpu"]) // weight.shape[0])
    return _Projected.apply(states, weight, wanted, label_smoothing, rows)


def consistent_cross_entropy(
    states: Float[Tensor, "2 place width"],
    weight: Float[Tensor, "token width"],
    wanted: Int[Tensor, " place"],
    label_smoothing: float,
    consistency: float,
) -> Float[Tensor, ""]:
    """Half of −log p − log q + α/2 · (KL(p‖q) + KL(q‖p)), where p and q come from two passes with other dropout.

    R-Drop (Liang et al. 2021, equation 4), halved so that it stays beside the plain cross-entropy; α is `consistency`.
    """
    rows = max(1, PORTION.get(states.device.type, PORTION["cpu"]) // (2 * weight.shape[0]))
    return _Consistent.apply(states, weight, wanted, label_smoothing, consistency, rows)


class _Projected(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, wanted: Tensor, smoothing: float, rows: int) -> Tensor:
        total = torch.zeros((), dtype=torch.promote_types(states.dtype, torch.float32), device=states.device)
        of_states, of_weight = torch.empty_like(states), torch.zeros_like(weight)
        share = smoothing / weight.shape[0]
        for first in range(0, len(states), rows):
            portion, right = states[first : first + rows], wanted[first : first + rows, None]
            log_p = (portion @ weight.T).log_softmax(-1, dtype=total.dtype)
            of_right = log_p.gather(1, right)
            total.sub_(of_right.sum(), alpha=1 - smoothing)
            if smoothing:
                total.sub_(log_p.sum(), alpha=share)
            # d/d logit = p − (1−ε)·[wanted] − ε/V; the last is the same everywhere and is left for later
            gradient = log_p.exp_().scatter_add_(1, right, torch.full_like(of_right, smoothing - 1)).to(portion.dtype)
            of_states[first : first + rows] = gradient @ weight
            of_weight += gradient.T @ portion
        if smoothing:
            of_states.sub_(weight.sum(0), alpha=share)
            of_weight.sub_(states.sum(0), alpha=share)
        ctx.save_for_backward(of_states, of_weight)
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        of_states, of_weight = ctx.saved_tensors
        (factor,) = upstream
        return of_states * factor, of_weight * factor, None, None, None


class _Consistent(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, wanted: Tensor, smoothing: float, consistency: float, rows: int
    ) -> Tensor:
        total = torch.zeros((), dtype=torch.promote_types(states.dtype, torch.float32), device=states.device)
        of_states, of_weight = torch.empty_like(states), torch.zeros_like(weight)
        share = smoothing / weight.shape[0]
        for first in range(0, len(wanted), rows):
            portion, right = states[:, first : first + rows], wanted[first : first + rows, None].expand(2, -1, 1)
            log_p = (portion @ weight.T).log_softmax(-1, dtype=total.dtype)
            p, apart = log_p.exp(), log_p - log_p.flip(0)
            divergence = (p * apart).sum(-1, keepdim=True)  # KL(p‖q), KL(q‖p)
            of_right = log_p.gather(-1, right)
            total += 0.25 * consistency * divergence.sum() - 0.5 * (1 - smoothing) * of_right.sum()
            total -= 0.5 * share * log_p.sum()
            # of the halved cross-entropy: (p − (1−ε)·[wanted] − ε/V) / 2
            gradient = (p - share).scatter_add_(-1, right, torch.full_like(of_right, smoothing - 1)).mul_(0.5)
            # of KL(p‖q) + KL(q‖p) by the logits of p: p · (log p − log q − KL(p‖q)) + p − q
            gradient += 0.25 * consistency * (p * (apart - divergence) + p - p.flip(0))
            gradient = gradient.to(portion.dtype)
            of_states[:, first : first + rows] = gradient @ weight
            of_weight += gradient.flatten(0, 1).T @ portion.flatten(0, 1)
        ctx.save_for_backward(of_states, of_weight)
        return total

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        of_states, of_weight = ctx.saved_tensors
        (factor,) = upstream
        return of_states * factor, of_weight * factor, None, None, None, None
