"""Linear recurrences h_t = a_t ⊙ h_{t−1} + b_t, with few operations however long they are."""

from math import isqrt
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

Steps = Float[Tensor, "row time width"]
Start = Float[Tensor, "row width"]


def linear_scan(factors: Steps, added: Steps, start: Start) -> Steps:
    """Return h_1 … h_T of h_t = factors_t ⊙ h_{t−1} + added_t, where h_0 is `start`."""
    states: Steps = _Scan.apply(factors, added, start)
    return states


class _Scan(torch.autograd.Function):
    """The gradient is a recurrence too, from the end: with g_t = ∂L/∂h_t,  G_t = g_t + a_{t+1} ⊙ G_{t+1}."""

    @staticmethod
    def forward(ctx: Any, factors: Tensor, added: Tensor, start: Tensor) -> Tensor:
        states = _scan(factors, added, start)
        ctx.save_for_backward(factors, states, start)
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        factors, states, start = ctx.saved_tensors
        later = F.pad(factors[:, 1:], (0, 0, 0, 1)).flip(1)  # a_{t+1}
        of_added = _scan(later, gradients[0].flip(1), torch.zeros_like(start)).flip(1)
        before = torch.cat([start[:, None], states[:, :-1]], dim=1)
        return of_added * before, of_added, of_added[:, 0] * factors[:, 0]


def _scan(factors: Steps, added: Steps, start: Start) -> Steps:
    """Compute the recurrence: step by step on a CPU, where that is twice as fast, and in two levels elsewhere."""
    size = chunk_size(factors.device.type, factors.shape[1])
    return _loop(factors, added, start) if size == factors.shape[1] else _in_chunks(factors, added, start, size)


def chunk_size(device: str, time: int) -> int:
    """Return the number of steps in a chunk; a GPU launches two operations per √time instead of one per step."""
    return time if device == "cpu" else max(1, isqrt(time))


def _loop(factors: Tensor, added: Tensor, start: Tensor) -> Tensor:
    """Compute step after step along the axis before the last."""
    states, state = torch.empty_like(added), start
    for time in range(factors.shape[-2]):
        state = torch.addcmul(added[..., time, :], factors[..., time, :], state, out=states[..., time, :])
    return states


def _in_chunks(factors: Steps, added: Steps, start: Start, size: int) -> Steps:
    """Compute chunks of `size` steps side by side, each from zero, and then add what came before each chunk.

    A chunk passes on its start times the product of its factors. Factors between 0 and 1 keep this stable: nothing is
    divided, and a product that vanishes is one whose start no longer counts.
    """
    time = factors.shape[1]
    padding = (0, 0, 0, -time % size)
    factors, added = (F.pad(tensor, padding).unflatten(1, (-1, size)) for tensor in (factors, added))
    within, products = _loop(factors, added, torch.zeros_like(added[:, :, 0])), factors.cumprod(2)
    starts = _loop(products[:, :-1, -1], within[:, :-1, -1], start)
    starts = torch.cat([start[:, None], starts], dim=1)
    return torch.addcmul(within, products, starts[:, :, None]).flatten(1, 2)[:, :time]
