"""Where a query may look. True means "may look", everywhere; a query that may look nowhere gets zeros, never NaN.

A mask is a boolean tensor that broadcasts to (batch, head, query, key), or one of the shapes below, which fused
kernels understand better than a tensor. `as_tensor` turns each into the tensor it stands for, or into the part of it
that belongs to some `chosen` queries, so that nobody needs length × length cells to look at a few of them.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

Chosen = Int[Tensor, " chosen"]


@dataclass(frozen=True)
class Causal:
    """A query sees the keys up to its own place; with fewer queries than keys the queries are the last ones."""

    def as_tensor(
        self, queries: int, keys: int, device: torch.device, chosen: Chosen | None = None
    ) -> Bool[Tensor, "1 1 query key"]:
        return (_ahead(queries, keys, device, chosen) <= 0)[None, None]


def real_places(lengths: Int[Tensor, " batch"], places: int) -> Bool[Tensor, "batch place"]:
    """True where a row of so many places has something, and false behind its length, where it is filled up."""
    return torch.arange(places, device=lengths.device) < lengths[:, None]


@dataclass(frozen=True)
class Lengths:
    """Padding mask: only the first `lengths` keys of each row are real."""

    lengths: Int[Tensor, " batch"]

    def as_tensor(
        self, queries: int, keys: int, device: torch.device, chosen: Chosen | None = None
    ) -> Bool[Tensor, "batch 1 1 key"]:
        return real_places(self.lengths.to(device, non_blocking=True), keys)[:, None, None]


@dataclass(frozen=True)
class Window:
    """A query sees the keys at most `before` places behind and `after` places ahead of its own."""

    before: int
    after: int = 0

    def as_tensor(
        self, queries: int, keys: int, device: torch.device, chosen: Chosen | None = None
    ) -> Bool[Tensor, "1 1 query key"]:
        ahead = _ahead(queries, keys, device, chosen)
        return ((ahead >= -self.before) & (ahead <= self.after))[None, None]


@dataclass(frozen=True)
class Packed:
    """Several sequences laid end to end in one row: `offsets` says where each begins, and the end of the last.

    A query sees its own sequence only, up to its own place when `causal`.
    """

    offsets: Int[Tensor, " sequence"]
    causal: bool = False

    def as_tensor(
        self, queries: int, keys: int, device: torch.device, chosen: Chosen | None = None
    ) -> Bool[Tensor, "1 1 query key"]:
        if queries != keys:
            raise ValueError(f"packed sequences look at themselves, got {queries} queries and {keys} keys")
        offsets = self.offsets.to(device)
        sequence = torch.bucketize(torch.arange(keys, device=device), offsets, right=True)
        own = (sequence if chosen is None else sequence[chosen])[:, None]
        allowed = (own == sequence) & (own > 0) & (own < len(offsets))
        if self.causal:
            allowed = allowed & (_ahead(queries, keys, device, chosen) <= 0)
        return allowed[None, None]


@dataclass(frozen=True)
class Every:
    """A query sees a key only if every one of these masks lets it: `Every((Causal(), Lengths(n)))`."""

    masks: tuple["Mask", ...]

    def as_tensor(
        self, queries: int, keys: int, device: torch.device, chosen: Chosen | None = None
    ) -> Bool[Tensor, "#batch #head #query key"]:
        allowed = torch.ones(1, 1, 1, keys, dtype=torch.bool, device=device)
        for mask in self.masks:
            allowed = allowed & as_tensor(mask, queries, keys, device, chosen)
        return allowed


Mask = Tensor | Causal | Lengths | Window | Packed | Every


def as_tensor(
    mask: Mask, queries: int, keys: int, device: torch.device, chosen: Chosen | None = None
) -> Bool[Tensor, "#batch #head #query key"]:
    """The boolean tensor a mask stands for, for all queries or the `chosen` ones."""
    if not isinstance(mask, Tensor):
        return mask.as_tensor(queries, keys, device, chosen)
    if mask.dtype != torch.bool:
        raise TypeError(f"a mask is a boolean tensor in which True means 'may look', got {mask.dtype}")
    mask = mask[(None,) * (4 - mask.dim())]  # what broadcasts to four axes has them from here on
    return mask if chosen is None or mask.shape[-2] == 1 else mask[..., chosen, :]


def _ahead(queries: int, keys: int, device: torch.device, chosen: Tensor | None) -> Int[Tensor, "query key"]:
    """Return how far each key is ahead of each query; the queries are the last of the keys' places."""
    own = torch.arange(keys - queries, keys, device=device)
    own = own if chosen is None else own[chosen]
    return torch.arange(keys, device=device) - own[:, None]
