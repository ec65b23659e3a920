"""Linear layers whose bias gradients are summed by a kernel, together with those of an activation after them."""

from typing import Any, Literal

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch import Tensor

PROGRAMS = 64  # programs that share the rows
PIECE, ACTIVE_PIECE = (32, 64), (16, 128)  # rows and columns that a program processes at once
Activation = Literal["none", "relu", "gelu-tanh"]


@triton.jit
def _gelu_slope(x):
    """d/dx x σ(2u), where u = √(2/π) (x + 0.044715 x³): 0.5 (1 + tanh u) is σ(2u)."""
    twice = 1.5957691216057308 * (x + 0.044715 * x * x * x)
    small = tl.exp(-tl.abs(twice))  # never overflows
    share = tl.where(twice >= 0, 1.0, small) / (1 + small)
    return share + x * share * (1 - share) * 1.5957691216057308 * (1 + 0.134145 * x * x)


@triton.jit
def _column_sums_kernel(
    upstream,
    kept,
    of_states,
    sums,
    rows,
    width: tl.constexpr,
    height: tl.constexpr,
    breadth: tl.constexpr,
    activation: tl.constexpr,
):
    program, programs = tl.program_id(0), tl.num_programs(0)
    column = tl.program_id(1) * breadth + tl.arange(0, breadth)
    total = tl.zeros([height, breadth], tl.float32)
    for first in range(program * height, rows, programs * height):
        row = first + tl.arange(0, height)
        inside = (row < rows)[:, None] & (column < width)[None, :]
        places = row.to(tl.int64)[:, None] * width + column[None, :]
        gradient = tl.load(upstream + places, inside, 0.0).to(tl.float32)
        if activation != "none":
            states = tl.load(kept + places, inside, 0.0).to(tl.float32)
            if activation == "relu":
                gradient = tl.where(states > 0, gradient, 0.0)
            else:
                gradient *= _gelu_slope(states)
            tl.store(of_states + places, gradient, inside)
        total += gradient
    tl.store(sums + program * width + column, tl.sum(total, 0), column < width)


def _column_sums(upstream: Tensor, kept: Tensor | None, activation: Activation) -> tuple[Tensor, Tensor]:
    """Return the gradient before an activation, and its sum over rows; `kept` is a ReLU's output, or a GELU's input."""
    rows, width = upstream.shape
    height, breadth = PIECE if kept is None else ACTIVE_PIECE
    programs = min(triton.cdiv(rows, height), PROGRAMS)
    of_states = upstream if kept is None else torch.empty_like(upstream)
    sums = torch.empty(programs, width, dtype=torch.float32, device=upstream.device)
    grid = programs, triton.cdiv(width, breadth)
    sizes = {"width": width, "height": height, "breadth": breadth}
    _column_sums_kernel[grid](upstream, kept, of_states, sums, rows, **sizes, activation=activation)
    return of_states, sums.sum(0)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, activation: Activation) -> Tensor:
        lowered = bias.to(states.dtype)
        if activation == "relu":
            kept = outputs = torch._addmm_activation(lowered, states, weight.T)
        else:
            kept = outputs = torch.addmm(lowered, states, weight.T)
            if activation == "gelu-tanh":
                outputs = F.gelu(kept, approximate="tanh")
        ctx.activation = activation
        ctx.save_for_backward(states, weight, None if activation == "none" else kept)
        return outputs

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        states, weight, kept = ctx.saved_tensors
        gradient, of_bias = _column_sums(upstream[0].contiguous(), kept, ctx.activation)
        of_states, of_weight, *_ = ctx.needs_input_grad  # either may be frozen, or depend only on frozen weights
        return gradient @ weight if of_states else None, gradient.T @ states if of_weight else None, of_bias, None


def linear(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """states · weightᵀ + bias of (row, width) states; the bias may have higher precision."""
    return _Linear.apply(states, weight, bias, "none")


def rectified_linear(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """max(0, states · weightᵀ + bias)."""
    return _Linear.apply(states, weight, bias, "relu")


def gelu_linear(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """GELU(states · weightᵀ + bias), in its tanh form."""
    return _Linear.apply(states, weight, bias, "gelu-tanh")
