"""Tables of mostly zeros, such as words by documents: products and dropout use only the nonzero entries."""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.attention.edges import group_starts, repeat_numbers, repeat_starts


@dataclass(frozen=True)
class SparseTable:
    """The nonzero columns of each row and their values, and the same entries sorted by column, for gradients.

    The entries of row r are at `starts[r]` up to `starts[r + 1]`. `order` sorts them by column, `column_starts` says
    where those of each column begin, and `rows` holds the row of each entry in that order.
    """

    values: Float[Tensor, " entry"]
    columns: Int[Tensor, " entry"]
    starts: Int[Tensor, " row_boundary"]
    order: Int[Tensor, " entry"]
    rows: Int[Tensor, " entry"]
    column_starts: Int[Tensor, " column_boundary"]

    @classmethod
    def of(
        cls,
        values: Float[Tensor, " entry"],
        columns: Int[Tensor, " entry"],
        starts: Int[Tensor, " row_boundary"],
        width: int,
    ) -> "SparseTable":
        """Build a table of `width` columns from its rows."""
        order = torch.argsort(columns, stable=True)
        rows = torch.arange(len(starts) - 1, device=starts.device).repeat_interleave(starts.diff())[order]
        return cls(values, columns, starts, order, rows, group_starts(columns, width))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.starts) - 1, len(self.column_starts) - 1

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.values, self.columns, self.starts, self.order, self.rows, self.column_starts

    def to(self, device: torch.device | str) -> "SparseTable":
        return SparseTable(*(tensor.to(device) for tensor in self.tensors))

    def repeat(self, times: int) -> "SparseTable":
        """Return `times` copies, each in its own rows and columns: the table for a stack of models on the same rows."""
        if times == 1:
            return self
        entries, (rows, columns) = len(self.values), self.shape
        return SparseTable(
            values=self.values.repeat(times),
            columns=repeat_numbers(self.columns, times, columns),
            starts=repeat_starts(self.starts, times),
            order=repeat_numbers(self.order, times, entries),
            rows=repeat_numbers(self.rows, times, rows),
            column_starts=repeat_starts(self.column_starts, times),
        )

    def drop(self, rate: float) -> "SparseTable":
        """Apply dropout with this rate; only nonzero values need random numbers."""
        return SparseTable(F.dropout(self.values, rate), *self.tensors[1:])

    def times(self, matrix: Float[Tensor, "column width"]) -> Float[Tensor, "row width"]:
        """Return the matrix product, differentiable by `matrix` only."""
        return _Product.apply(matrix, *self.tensors)


class _Product(torch.autograd.Function):
    """Both directions are weighted sums of rows, for which torch has a fast kernel on CPU and GPU."""

    @staticmethod
    def forward(
        ctx: Any, matrix: Tensor, values: Tensor, columns: Tensor, starts: Tensor, *by_column: Tensor
    ) -> Tensor:
        ctx.save_for_backward(values, *by_column)
        return _weighted_sums(matrix, columns, starts, values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        values, order, rows, column_starts = ctx.saved_tensors
        return _weighted_sums(gradient.contiguous(), rows, column_starts, values[order]), *[None] * 6


def _weighted_sums(table: Tensor, numbers: Tensor, starts: Tensor, weights: Tensor) -> Tensor:
    """Σ weight · table[number] over the entries from one start to the next."""
    weights = weights.to(table.dtype)
    return F.embedding_bag(numbers, table, starts, mode="sum", per_sample_weights=weights, include_last_offset=True)
