"""The matrices of a network in the precision of products, those that read one input as one, in a few launches."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

Group = tuple[Tensor, ...]  # parameters that make one matrix, one under another


def lower_matrices(groups: dict[nn.Module, list[Group]], dtype: torch.dtype) -> dict[nn.Module, list[Tensor]]:
    """The matrices of all sublayers in another precision, by one copy for all that learn and one for the frozen."""
    flat = [group for module in groups.values() for group in module]
    made: dict[bool, Iterator[Tensor]] = {}
    for learns in {group[0].requires_grad for group in flat}:
        some = [group for group in flat if group[0].requires_grad == learns]
        made[learns] = iter(_Lowered.apply(dtype, [len(group) for group in some], *chain.from_iterable(some)))
    return {module: [next(made[group[0].requires_grad]) for group in own] for module, own in groups.items()}


class _Lowered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dtype: torch.dtype, sizes: list[int], *parts: Tensor) -> tuple[Tensor, ...]:
        groups = list(_group(parts, sizes))
        made = tuple(
            group[0].new_empty(sum(len(part) for part in group), *group[0].shape[1:], dtype=dtype) for group in groups
        )
        ctx.sizes, ctx.rows = sizes, [[len(part) for part in group] for group in groups]
        ctx.dtypes = [part.dtype for part in parts]
        torch._foreach_copy_(_pieces(made, ctx.rows), list(parts))
        return made

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        pieces = _pieces(upstream, ctx.rows)
        made = [torch.empty_like(piece, dtype=dtype) for piece, dtype in zip(pieces, ctx.dtypes, strict=True)]
        torch._foreach_copy_(made, pieces)
        return None, None, *made


def _group(parts: Sequence[Tensor], sizes: Iterable[int]) -> Iterable[Sequence[Tensor]]:
    first = 0
    for size in sizes:
        yield parts[first : first + size]
        first += size


def _pieces(tables: Sequence[Tensor], rows: list[list[int]]) -> list[Tensor]:
    """Each table cut into the parts it was made of."""
    return [piece for table, counts in zip(tables, rows, strict=True) for piece in table.split(counts)]
