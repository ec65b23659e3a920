"""Convert the matrices of a network to the precision of its products in few launches, joining those with one input."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

Group = tuple[Tensor, ...]  # parameters that are stacked into one matrix


def lower_matrices(groups: dict[nn.Module, list[Group]], dtype: torch.dtype) -> dict[nn.Module, list[Tensor]]:
    """Convert the matrices of all sublayers, with one copy for those that learn and one for the frozen ones."""
    flat = [group for module in groups.values() for group in module]
    lowered: dict[bool, Iterator[Tensor]] = {}
    for learns in {group[0].requires_grad for group in flat}:
        selected = [group for group in flat if group[0].requires_grad == learns]
        lowered[learns] = iter(
            _Lowered.apply(dtype, [len(group) for group in selected], *chain.from_iterable(selected))
        )
    return {
        module: [next(lowered[group[0].requires_grad]) for group in module_groups]
        for module, module_groups in groups.items()
    }


class _Lowered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dtype: torch.dtype, sizes: list[int], *parts: Tensor) -> tuple[Tensor, ...]:
        groups = list(_group(parts, sizes))
        lowered = tuple(
            group[0].new_empty(sum(len(part) for part in group), *group[0].shape[1:], dtype=dtype) for group in groups
        )
        ctx.sizes, ctx.rows = sizes, [[len(part) for part in group] for group in groups]
        ctx.dtypes = [part.dtype for part in parts]
        torch._foreach_copy_(_pieces(lowered, ctx.rows), list(parts))
        return lowered

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        pieces = _pieces(upstream, ctx.rows)
        gradients = [torch.empty_like(piece, dtype=dtype) for piece, dtype in zip(pieces, ctx.dtypes, strict=True)]
        torch._foreach_copy_(gradients, pieces)
        return None, None, *gradients


def _group(parts: Sequence[Tensor], sizes: Iterable[int]) -> Iterable[Sequence[Tensor]]:
    first = 0
    for size in sizes:
        yield parts[first : first + size]
        first += size


def _pieces(tables: Sequence[Tensor], rows: list[list[int]]) -> list[Tensor]:
    """Cut each table into the parts it was made of."""
    return [piece for table, counts in zip(tables, rows, strict=True) for piece in table.split(counts)]
