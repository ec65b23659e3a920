"""Where a query may look. True means "may look", everywhere; a query that may look nowhere gets zeros, never NaN.

A mask is a boolean tensor that broadcasts to (batch, head, query, key), or one of the shapes below, which fused
kernels understand better than a tensor. `as_tensor` turns each into the tensor it stands for.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor


@dataclass(frozen=True)
class Causal:
    """A query sees the keys up to its own place; with fewer queries than keys the queries are the last ones."""

    def as_tensor(self, queries: int, keys: int, device: torch.device) -> Bool[Tensor, "1 1 query key"]:
        allowed = torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)
        return allowed[None, None]


@dataclass(frozen=True)
class Lengths:
    """Of each row only the first `lengths` keys are real; the rest is padding."""

    lengths: Int[Tensor, " batch"]

    def as_tensor(self, queries: int, keys: int, device: torch.device) -> Bool[Tensor, "batch 1 1 key"]:
        allowed = torch.arange(keys, device=device) < self.lengths.to(device)[:, None]
        return allowed[:, None, None]


@dataclass(frozen=True)
class Window:
    """A query sees the keys at most `before` places behind and `after` places ahead of its own."""

    before: int
    after: int = 0

    def as_tensor(self, queries: int, keys: int, device: torch.device) -> Bool[Tensor, "1 1 query key"]:
        own = torch.arange(keys - queries, keys, device=device)[:, None]
        ahead = torch.arange(keys, device=device) - own
        return ((ahead >= -self.before) & (ahead <= self.after))[None, None]


@dataclass(frozen=True)
class Packed:
    """Several sequences laid end to end in one row: `offsets` says where each begins, and the end of the last.

    A query sees its own sequence only, up to its own place when `causal`.
    """

    offsets: Int[Tensor, " sequence"]
    causal: bool = False

    def as_tensor(self, queries: int, keys: int, device: torch.device) -> Bool[Tensor, "1 1 query key"]:
        if queries != keys:
            raise ValueError(f"packed sequences look at themselves, got {queries} queries and {keys} keys")
        places = torch.arange(keys, device=device)
        offsets = self.offsets.to(device)
        sequence = torch.bucketize(places, offsets, right=True)
        real = (sequence > 0) & (sequence < len(offsets))
        allowed = (sequence[:, None] == sequence) & real[:, None]
        return (allowed.tril() if self.causal else allowed)[None, None]


Mask = Tensor | Causal | Lengths | Window | Packed


def as_tensor(mask: Mask, queries: int, keys: int, device: torch.device) -> Bool[Tensor, "#batch #head #query key"]:
    """The boolean tensor a mask stands for."""
    if not isinstance(mask, Tensor):
        return mask.as_tensor(queries, keys, device)
    if mask.dtype != torch.bool:
        raise TypeError(f"a mask is a boolean tensor in which True means 'may look', got {mask.dtype}")
    return mask
