"""Linear layers whose biases' gradients are summed by a kernel, and whose ReLU is part of the product."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

PROGRAMS = 64  # that share out the rows
PIECE, RECTIFIED_PIECE = (32, 64), (16, 128)  # rows and columns that a program works on at once


@triton.jit
def _column_sums_kernel(
    upstream,
    active,
    of_states,
    sums,
    rows,
    width: tl.constexpr,
    height: tl.constexpr,
    breadth: tl.constexpr,
    rectified: tl.constexpr,
):
    program, programs = tl.program_id(0), tl.num_programs(0)
    column = tl.program_id(1) * breadth + tl.arange(0, breadth)
    total = tl.zeros([height, breadth], tl.float32)
    for first in range(program * height, rows, programs * height):
        row = first + tl.arange(0, height)
        inside = (row < rows)[:, None] & (column < width)[None, :]
        places = row.to(tl.int64)[:, None] * width + column[None, :]
        gradient = tl.load(upstream + places, inside, 0.0)
        if rectified:
            gradient = tl.where(tl.load(active + places, inside, 0.0) > 0, gradient, 0.0)
            tl.store(of_states + places, gradient, inside)
        total += gradient.to(tl.float32)
    tl.store(sums + program * width + column, tl.sum(total, 0), column < width)


def _column_sums(upstream: Tensor, active: Tensor | None) -> tuple[Tensor, Tensor]:
    """The gradient before a ReLU whose output was `active`, or the same if there was none, and its sum over rows."""
    rows, width = upstream.shape
    height, breadth = PIECE if active is None else RECTIFIED_PIECE
    programs = min(triton.cdiv(rows, height), PROGRAMS)
    of_states = upstream if active is None else torch.empty_like(upstream)
    sums = torch.empty(programs, width, dtype=torch.float32, device=upstream.device)
    grid = programs, triton.cdiv(width, breadth)
    sizes = {"width": width, "height": height, "breadth": breadth}
    _column_sums_kernel[grid](upstream, active, of_states, sums, rows, **sizes, rectified=active is not None)
    return of_states, sums.sum(0)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, rectified: bool) -> Tensor:
        lowered = bias.to(states.dtype)
        if rectified:
            found = torch._addmm_activation(lowered, states, weight.T)
        else:
            found = torch.addmm(lowered, states, weight.T)
        ctx.save_for_backward(states, weight, found if rectified else None)
        return found

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        states, weight, active = ctx.saved_tensors
        gradient, of_bias = _column_sums(upstream[0].contiguous(), active)
        of_states, of_weight, *_ = ctx.needs_input_grad  # either may be frozen, or come from what is
        return gradient @ weight if of_states else None, gradient.T @ states if of_weight else None, of_bias, None


def linear(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """states · weightᵀ + bias of (row, width) states; the bias may be of higher precision."""
    return _Linear.apply(states, weight, bias, False)


def rectified_linear(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """max(0, states · weightᵀ + bias)."""
    return _Linear.apply(states, weight, bias, True)
