"""A memory of which each step touches only a few slots, forward and backward (Rae et al. 2016, section 3.4).

The memory is one table that is changed in place, and so is its gradient in the backward pass, which goes through the
reads and writes in reverse order. So the cost of a step, in time and in memory for the backward pass, does not depend
on the number of slots; only making the two tables, once per sequence, does. The paper undoes its writes on the way
back; here the slots that were read are kept instead, a few for each step, so nothing needs to be undone.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.models.machines.addressing import Memory

Touched = Int[Tensor, "row place"]
Slots = Float[Tensor, "row place depth"]


class SparseMemory:
    """The memory of each row. Reads and writes pass on a token, which tells the backward pass their order."""

    def __init__(self, rows: int, slots: int, depth: int, like: Tensor) -> None:
        self.values: Memory = like.new_zeros(rows, slots, depth)
        self.gradient: Memory | None = None  # of the values at the current point of the backward pass

    def start(self) -> Tensor:
        """Return the first token; it requires a gradient, so that the first write gets one too."""
        return self.values.new_zeros((), requires_grad=torch.is_grad_enabled())

    def read(self, places: Touched, token: Tensor) -> tuple[Slots, Tensor]:
        """Return the slots at these places."""
        return _Read.apply(self, places, token)

    def write(self, cleared: Int[Tensor, " row"], places: Touched, values: Slots, token: Tensor) -> Tensor:
        """Set one slot of each row to zero, then add values to some; a place may occur twice."""
        return _Write.apply(self, cleared, places, values, token)

    def table(self) -> Memory:
        """Return the table of gradients, created at the first read of the backward pass."""
        if self.gradient is None:
            self.gradient = torch.zeros_like(self.values)
        return self.gradient


def _spread(places: Touched, depth: int) -> Int[Tensor, "row place depth"]:
    return places.unsqueeze(-1).expand(-1, -1, depth)


class _Read(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, memory: SparseMemory, places: Touched, token: Tensor) -> tuple[Tensor, Tensor]:
        ctx.memory = memory
        ctx.save_for_backward(places)
        return memory.values.gather(1, _spread(places, memory.values.shape[2])), token.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, token: Tensor) -> tuple[None, None, Tensor]:
        (places,) = ctx.saved_tensors
        ctx.memory.table().scatter_add_(1, _spread(places, gradient.shape[2]), gradient)
        return None, None, token


class _Write(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, memory: SparseMemory, cleared: Tensor, places: Touched, values: Tensor, token: Tensor
    ) -> Tensor:
        depth = values.shape[2]
        ctx.memory = memory
        ctx.save_for_backward(cleared, places)
        memory.values.scatter_(1, _spread(cleared.unsqueeze(1), depth), 0.0)
        memory.values.scatter_add_(1, _spread(places, depth), values)
        return token.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, token: Tensor) -> tuple[None, None, None, Tensor, Tensor]:
        cleared, places = ctx.saved_tensors
        table = ctx.memory.table()
        values = table.gather(1, _spread(places, table.shape[2]))
        table.scatter_(1, _spread(cleared.unsqueeze(1), table.shape[2]), 0.0)  # cleared values affect nothing later
        return None, None, None, values, token
