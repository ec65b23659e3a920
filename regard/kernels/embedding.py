"""Token vectors, scaled, with their positions added and dropout on both, in one kernel."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.kernels.dropping import Dropping, dropped


@triton.jit(do_not_specialize=["site", "threshold"])
def _embed_kernel(
    tokens,
    places,
    weight,
    table,
    found,
    factor,
    seed,
    site,
    threshold,
    scale,
    width: tl.constexpr,
    block: tl.constexpr,
    placed: tl.constexpr,
    drops: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, block)
    inside = columns < width
    states = tl.load(weight + tl.load(tokens + row) * width + columns, inside, 0.0).to(tl.float32) * factor
    if placed:
        states += tl.load(table + tl.load(places + row) * width + columns, inside, 0.0).to(tl.float32)
    if drops:
        states = dropped(states, row * width + columns, seed, site, threshold, scale)
    tl.store(found + row * width + columns, states, inside)


@triton.jit(do_not_specialize=["site", "threshold"])
def _embed_gradient_kernel(upstream, masked, seed, site, threshold, scale, width: tl.constexpr, block: tl.constexpr):
    columns = tl.arange(0, block)
    inside = columns < width
    places = tl.program_id(0).to(tl.int64) * width + columns
    gradient = tl.load(upstream + places, inside, 0.0).to(tl.float32)
    tl.store(masked + places, dropped(gradient, places, seed, site, threshold, scale), inside)


class _Embedded(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        weight: Tensor,
        table: Tensor | None,
        tokens: Tensor,
        places: Tensor,
        settings: tuple[float, Dropping, torch.dtype],
    ) -> Tensor:
        factor, dropping, dtype = settings
        rows, width = len(tokens), weight.shape[1]
        states = torch.empty(rows, width, dtype=dtype, device=weight.device)
        ctx.block = {"width": width, "block": triton.next_power_of_2(width)}
        ctx.chance = dropping.arguments
        flags = {"placed": table is not None, "drops": dropping.share > 0}
        _embed_kernel[(rows,)](tokens, places, weight, table, states, factor, *ctx.chance, **flags, **ctx.block)
        ctx.save_for_backward(tokens, places)
        ctx.sizes, ctx.factor, ctx.drop = (len(weight), None if table is None else len(table)), factor, flags["drops"]
        return states

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        tokens, places = ctx.saved_tensors
        gradient = upstream[0].contiguous()
        if ctx.drop:
            masked = torch.empty_like(gradient, dtype=torch.float32)
            _embed_gradient_kernel[(len(tokens),)](gradient, masked, *ctx.chance, **ctx.block)
            gradient = masked
        gradient = gradient.float()
        count, length = ctx.sizes
        of_table = None
        if ctx.needs_input_grad[1]:
            of_table = torch.ops.aten.embedding_dense_backward(gradient, places, length, -1, False)
        of_weight = torch.ops.aten.embedding_dense_backward(gradient, tokens, count, -1, False).mul_(ctx.factor)
        return of_weight, of_table, None, None, None


def embedded(
    weight: Tensor, table: Tensor | None, tokens: Tensor, places: Tensor, settings: tuple[float, Dropping, torch.dtype]
) -> Tensor:
    """dropout(factor · weight[token] + table[place]) of each token as (row, width); `table` may be None.

    `settings` holds the factor, the dropout and the precision of the result.
    """
    return _Embedded.apply(weight, table, tokens, places, settings)
