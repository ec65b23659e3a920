"""Projections for a decoder that looks step by step: queries, keys and values of any widths, in one or more heads.

    a_i = score(Q q, K h_i),   c = Σ α_i V h_i

Each head has its own matrices; the contexts are concatenated or averaged. `MultiHead` looks from all places at once and
projects the result (W_O); here that is left to the reader of the context.
"""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, nn

from regard.base.head_costs import Join, head_depths


class Remembered(NamedTuple):
    """Keys before the score prepares them, and the values."""

    keys: Float[Tensor, "batch head key key_depth"]
    values: Float[Tensor, "batch head key value_depth"]


class Projected(nn.Module):
    """Projections Q, K and V for heads that together give a context of `width`; no biases."""

    def __init__(
        self, query_width: int, memory_width: int, width: int, heads: int, *, join: Join, shared_key_value: bool
    ) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} cannot be shared out among {heads} heads")
        self.heads, self.joined, self.context_width = heads, join, width
        self.key_depth, self.value_depth = head_depths(width, heads, join, shared_key_value)
        self.to_query = nn.Linear(query_width, heads * self.key_depth, bias=False)
        self.to_key = nn.Linear(memory_width, heads * self.key_depth, bias=False)
        self.to_value = None if shared_key_value else nn.Linear(memory_width, heads * self.value_depth, bias=False)
        for matrix in (self.to_query, self.to_key, self.to_value):
            if matrix is not None:
                nn.init.xavier_uniform_(matrix.weight)

    def queries(self, states: Float[Tensor, "batch query query_width"]) -> Float[Tensor, "batch head query key_depth"]:
        return self._split(self.to_query(states))

    def remember(self, memory: Float[Tensor, "batch key memory_width"]) -> Remembered:
        keys = self._split(self.to_key(memory))
        return Remembered(keys, keys if self.to_value is None else self._split(self.to_value(memory)))

    def join(self, context: Float[Tensor, "batch head query value_depth"]) -> Float[Tensor, "batch query width"]:
        return context.mean(dim=1) if self.joined == "averaged" else context.transpose(1, 2).flatten(2)

    def _split(self, states: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch head time depth"]:
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Unprojected(nn.Module):
    """A single head that uses the states themselves as queries, keys and values."""

    heads = 1

    def __init__(self, query_width: int, memory_width: int) -> None:
        super().__init__()
        self.key_depth, self.value_depth, self.context_width = query_width, memory_width, memory_width

    def queries(self, states: Float[Tensor, "batch query width"]) -> Float[Tensor, "batch 1 query width"]:
        return states[:, None]

    def remember(self, memory: Float[Tensor, "batch key width"]) -> Remembered:
        return Remembered(memory[:, None], memory[:, None])

    def join(self, context: Float[Tensor, "batch 1 query width"]) -> Float[Tensor, "batch query width"]:
        return context[:, 0]


Projections = Projected | Unprojected
