"""Attention along the edges of a graph: a node looks at its neighbours and at nothing else.

Where most pairs of nodes have no edge, scores and weights exist for edges only: (edge, head) instead of (query, key). A
node without edges gets a context of zero, never NaN.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable


@dataclass(frozen=True)
class Edges:
    """Edges from queries to keys, sorted by query so that sums over them are fast.

    `order` sorts the edges by the node looked at instead. `starts` and `order_starts` say where each node's edges begin
    in the two orders; they have one entry more than there are nodes.
    """

    looks_from: Int[Tensor, " edge"]
    looks_at: Int[Tensor, " edge"]
    starts: Int[Tensor, " boundary"]
    order: Int[Tensor, " edge"]
    order_starts: Int[Tensor, " boundary"]

    @classmethod
    def among(cls, nodes: int, looks_from: Int[Tensor, " edge"], looks_at: Int[Tensor, " edge"]) -> "Edges":
        """Return the given edges of a graph with `nodes` nodes, sorted by looking node, then by node looked at."""
        by_both = torch.argsort(looks_from * nodes + looks_at, stable=True)
        looks_from, looks_at = looks_from[by_both], looks_at[by_both]
        order = torch.argsort(looks_at, stable=True)
        return cls(looks_from, looks_at, group_starts(looks_from, nodes), order, group_starts(looks_at, nodes))

    @property
    def nodes(self) -> int:
        return len(self.starts) - 1

    def __len__(self) -> int:
        return len(self.looks_from)

    def to(self, device: torch.device | str) -> "Edges":
        tensors = (self.looks_from, self.looks_at, self.starts, self.order, self.order_starts)
        return Edges(*(tensor.to(device) for tensor in tensors))

    def repeat(self, times: int) -> "Edges":
        """Return a graph of `times` copies of this one, with no edges between copies."""
        if times == 1:
            return self
        return Edges(
            looks_from=repeat_numbers(self.looks_from, times, self.nodes),
            looks_at=repeat_numbers(self.looks_at, times, self.nodes),
            starts=repeat_starts(self.starts, times),
            order=repeat_numbers(self.order, times, len(self)),
            order_starts=repeat_starts(self.order_starts, times),
        )

    def of_lookers(self, values: Float[Tensor, "node *rest"]) -> Float[Tensor, "edge *rest"]:
        """Return, for each edge, the value of the node that looks."""
        return _Gather.apply(values, self.looks_from, None, self.starts)

    def of_places(self, values: Float[Tensor, "node *rest"]) -> Float[Tensor, "edge *rest"]:
        """Return, for each edge, the value of the node that is looked at."""
        return _Gather.apply(values, self.looks_at, self.order, self.order_starts)

    def total(self, values: Float[Tensor, "edge *rest"]) -> Float[Tensor, "node *rest"]:
        """Return, for each node, the sum over the edges along which it looks; zero where there are none."""
        return _Total.apply(values, self.looks_from, self.starts)


def edge_softmax(scores: Float[Tensor, "edge head"], edges: Edges) -> Float[Tensor, "edge head"]:
    """exp(e_i) / Σ_j exp(e_j) over the edges j along which the same node looks."""
    # Subtract each node's largest score so that no exponential overflows.
    largest = torch.segment_reduce(scores.detach(), "max", offsets=edges.starts, axis=0, unsafe=True)
    exponentials = (scores - largest.index_select(0, edges.looks_from)).exp()
    return exponentials / edges.of_lookers(edges.total(exponentials))


def mix_along_edges(
    weights: Float[Tensor, "edge head"], values: Float[Tensor, "node head width"], edges: Edges
) -> Float[Tensor, "node head width"]:
    """Return the context of each node: c_t = Σ_i w_ti · value_i over the nodes i it looks at."""
    return edges.total(weights[:, :, None] * edges.of_places(values))


def group_starts(numbers: Int[Tensor, " entry"], groups: int) -> Int[Tensor, " boundary"]:
    """Return where each group's entries begin once sorted by group number, and where the last group ends."""
    counts = torch.bincount(numbers, minlength=groups)
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def repeat_numbers(numbers: Int[Tensor, " entry"], times: int, step: int) -> Int[Tensor, " entries"]:
    """Repeat the numbers; each copy is `step` higher than the previous one."""
    return (numbers + step * torch.arange(times, device=numbers.device)[:, None]).flatten()


def repeat_starts(starts: Int[Tensor, " boundary"], times: int) -> Int[Tensor, " boundaries"]:
    """Return the group starts of several copies laid end to end."""
    return torch.cat([repeat_numbers(starts[:-1], times, int(starts[-1])), starts[-1:] * times])


def _sum_groups(values: Tensor, starts: Tensor) -> Tensor:
    return torch.segment_reduce(values, "sum", offsets=starts, axis=0, unsafe=True)


class _Gather(torch.autograd.Function):
    """Gather rows of a table by number; the gradient is summed in sorted groups.

    On a CPU this takes a sixth of the time of torch's own sum, which adds row by row. On a GPU it is deterministic.
    """

    @staticmethod
    def forward(ctx: Any, table: Tensor, rows: Tensor, order: Tensor | None, starts: Tensor) -> Tensor:
        ctx.save_for_backward(order, starts)
        return table.index_select(0, rows)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        order, starts = ctx.saved_tensors
        ordered = gradient.contiguous() if order is None else gradient.index_select(0, order)
        return _sum_groups(ordered, starts), None, None, None


class _Total(torch.autograd.Function):
    """Sum neighbouring rows; in the gradient, each row receives that of its sum."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, groups: Tensor, starts: Tensor) -> Tensor:
        ctx.save_for_backward(groups)
        return _sum_groups(values.contiguous(), starts)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (groups,) = ctx.saved_tensors
        return gradient.index_select(0, groups), None, None
