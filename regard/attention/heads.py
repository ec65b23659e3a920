"""Several attentions side by side, each in its own projection of queries, keys and values."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.core import Attention
from regard.attention.masks import Mask
from regard.attention.positions import rotate


class Cache(NamedTuple):
    """The keys and values of what was seen so far; it comes in and goes out, and never hides on a module."""

    keys: Float[Tensor, "batch head key depth"]
    values: Float[Tensor, "batch head key depth"]


class MultiHead(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1 … head_h) W_O (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(
        self, width: int, heads: int, *, looks_from: str, looks_at: str, dropout: float = 0.0, rotary: bool = False
    ) -> None:
        super().__init__()
        self.heads, self.rotary = heads, rotary
        self.to_query = nn.Linear(width, width)
        self.to_key_value = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)
        self.look = Attention(looks_from=looks_from, looks_at=looks_at, dropout=dropout)
        for projection, parts in ((self.to_query, 1), (self.to_key_value, 2), (self.out, 1)):
            for part in projection.weight.chunk(parts):
                nn.init.xavier_uniform_(part)
            nn.init.zeros_(projection.bias)

    def remember(self, memory: Float[Tensor, "batch key width"], first: int = 0) -> Cache:
        """The keys and values of `memory`, whose first token stands at place `first`."""
        keys, values = (self._split(part) for part in self.to_key_value(memory).chunk(2, dim=-1))
        return Cache(rotate(keys, first) if self.rotary else keys, values)

    def forward(
        self, states: Float[Tensor, "batch query width"], cache: Cache, mask: Mask | None = None, first: int = 0
    ) -> Float[Tensor, "batch query width"]:
        """Look from `states`, whose first token stands at place `first`, at what the cache remembers."""
        query = self._split(self.to_query(states))
        context = self.look(rotate(query, first) if self.rotary else query, cache.keys, cache.values, mask)
        return self.out(context.transpose(1, 2).flatten(2))

    def _split(self, states: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch head time depth"]:
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def extended(cache: Cache | None, new: Cache) -> Cache:
    """The cache with later keys and values behind the earlier ones."""
    if cache is None:
        return new
    return Cache(torch.cat([cache.keys, new.keys], dim=2), torch.cat([cache.values, new.values], dim=2))
