"""Bias, dropout, residual and layer norm in one kernel: everything between two sublayers of a Transformer."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.kernels.dropping import Dropping, dropped

PROGRAMS, SUMS = 2048, 2**20  # programs that share the rows of a backward pass; columns that all of them sum together


@triton.jit(do_not_specialize=["site", "threshold"])
def _add_norm_kernel(
    residual,
    branch,
    bias,
    gain,
    shift,
    summed,
    normed,
    epsilon,
    seed,
    site,
    threshold,
    scale,
    width: tl.constexpr,
    block: tl.constexpr,
    branched: tl.constexpr,
    drops: tl.constexpr,
):
    columns = tl.arange(0, block)
    inside = columns < width
    places = tl.program_id(0).to(tl.int64) * width + columns
    states = tl.load(residual + places, inside, 0.0).to(tl.float32)
    if branched:
        added = tl.load(branch + places, inside, 0.0).to(tl.float32) + tl.load(bias + columns, inside, 0.0)
        if drops:
            added = dropped(added, places, seed, site, threshold, scale)
        states += added
        tl.store(summed + places, states, inside)
    centred = tl.where(inside, states - tl.sum(states) / width, 0.0)
    deviation = tl.sqrt(tl.sum(centred * centred) / width + epsilon)
    gains, shifts = tl.load(gain + columns, inside, 0.0), tl.load(shift + columns, inside, 0.0)
    tl.store(normed + places, centred / deviation * gains + shifts, inside)


@triton.jit(do_not_specialize=["site", "threshold", "rows"])
def _add_norm_gradient_kernel(
    summed,
    gain,
    of_summed,
    of_normed,
    of_residual,
    of_branch,
    sums,
    rows,
    epsilon,
    seed,
    site,
    threshold,
    scale,
    width: tl.constexpr,
    block: tl.constexpr,
    branched: tl.constexpr,
    drops: tl.constexpr,
    followed: tl.constexpr,
):
    program, programs = tl.program_id(0), tl.num_programs(0)
    columns = tl.arange(0, block)
    inside = columns < width
    gains = tl.load(gain + columns, inside, 0.0)
    of_gain = tl.zeros([block], tl.float32)
    of_shift = tl.zeros([block], tl.float32)
    of_bias = tl.zeros([block], tl.float32)
    for row in range(program, rows, programs):
        places = tl.cast(row, tl.int64) * width + columns
        states = tl.load(summed + places, inside, 0.0).to(tl.float32)
        gradient = tl.load(of_normed + places, inside, 0.0).to(tl.float32)
        centred = tl.where(inside, states - tl.sum(states) / width, 0.0)
        deviation = tl.sqrt(tl.sum(centred * centred) / width + epsilon)
        unit = centred / deviation
        of_shift += gradient
        of_gain += gradient * unit
        gradient *= gains
        gradient -= tl.sum(gradient) / width + unit * (tl.sum(gradient * unit) / width)
        gradient /= deviation
        if followed:
            gradient += tl.load(of_summed + places, inside, 0.0).to(tl.float32)
        tl.store(of_residual + places, gradient, inside)
        if branched:
            if drops:
                gradient = dropped(gradient, places, seed, site, threshold, scale)
            tl.store(of_branch + places, gradient, inside)
            of_bias += tl.where(inside, gradient, 0.0)
    own = sums + program * 3 * width + columns
    tl.store(own, of_gain, inside)
    tl.store(own + width, of_shift, inside)
    tl.store(own + 2 * width, of_bias, inside)


def _block(width: int) -> dict[str, int]:
    block = triton.next_power_of_2(width)
    return {"width": width, "block": block, "num_warps": min(8, max(1, block // 1024))}


class _AddNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        residual: Tensor,
        branch: Tensor | None,
        bias: Tensor | None,
        gain: Tensor,
        shift: Tensor,
        settings: tuple[float, Dropping, torch.dtype],
    ) -> tuple[Tensor, Tensor]:
        epsilon, dropping, dtype = settings
        rows, width = residual.shape
        summed = residual if branch is None else torch.empty_like(residual)
        normed = torch.empty_like(residual, dtype=dtype)
        flags = {"branched": branch is not None, "drops": dropping.share > 0}
        chance = dropping.arguments
        _add_norm_kernel[(rows,)](
            residual, branch, bias, gain, shift, summed, normed, epsilon, *chance, **flags, **_block(width)
        )
        ctx.save_for_backward(summed, gain)
        ctx.settings, ctx.flags, ctx.chance = (epsilon, None if branch is None else branch.dtype), flags, chance
        ctx.set_materialize_grads(False)
        return summed, normed

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor | None) -> tuple[Tensor | None, ...]:
        of_summed, of_normed = upstream
        summed, gain = ctx.saved_tensors
        epsilon, branch_dtype = ctx.settings
        rows, width = summed.shape
        programs = min(rows, PROGRAMS, max(1, SUMS // width))
        of_residual = torch.empty_like(summed)
        of_branch = torch.empty_like(summed, dtype=branch_dtype) if ctx.flags["branched"] else None
        sums = gain.new_empty(programs, 3, width)
        of_normed = torch.zeros_like(summed) if of_normed is None else of_normed.contiguous()
        of_summed = None if of_summed is None else of_summed.contiguous()
        flags = ctx.flags | {"followed": of_summed is not None}
        _add_norm_gradient_kernel[(programs,)](
            summed,
            gain,
            of_summed,
            of_normed,
            of_residual,
            of_branch,
            sums,
            rows,
            epsilon,
            *ctx.chance,
            **flags,
            **_block(width),
        )
        of_gain, of_shift, of_bias = sums.sum(0)
        return of_residual, of_branch, of_bias if ctx.flags["branched"] else None, of_gain, of_shift, None


def normed(states: Tensor, norm: torch.nn.LayerNorm, dtype: torch.dtype) -> Tensor:
    """Return the layer norm of (row, width) states as `dtype`."""
    return _AddNorm.apply(states, None, None, norm.weight, norm.bias, (norm.eps, Dropping(), dtype))[1]


def added_and_normed(
    residual: Tensor, branch: Tensor, bias: Tensor, dropping: Dropping, norm: torch.nn.LayerNorm, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """residual + dropout(branch + bias), and its layer norm as `dtype`; all (row, width)."""
    return _AddNorm.apply(residual, branch, bias, norm.weight, norm.bias, (norm.eps, dropping, dtype))
