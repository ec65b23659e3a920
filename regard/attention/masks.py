"""Masks: where a query may look. True always means "may look"; a query that may look nowhere gets zeros, never NaN.

A mask is a boolean tensor that broadcasts to (batch, head, query, key), or one of the classes below, which fused
kernels can use directly. `as_tensor` turns either into a tensor, or into the rows of a few `chosen` queries, so that
looking at some queries does not need length × length cells.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

Chosen = Int[Tensor, " chosen"]


@dataclass(frozen=True)
class Causal:
    """A query sees the keys up to its own place; if there are fewer queries than keys, they are the last ones."""

    def as_tensor(
        self, queries: int, keys: int, device: torch.device, chosen: Chosen | None = None
    ) -> Bool[Tensor, "1 1 query key"]:
        return (_ahead(queries, keys, device, chosen) <= 0)[None, None]


def real_places(lengths: Int[Tensor, " batch"], places: int) -> Bool[Tensor, "batch place"]:
    """Return True for the places within each row's length and False for padding."""
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
    """A query sees the keys from `before` places behind it to `after` places ahead."""

    before: int
    after: int = 0

    def as_tensor(
        self, queries: int, keys: int, device: torch.device, chosen: Chosen | None = None
    ) -> Bool[Tensor, "1 1 query key"]:
        ahead = _ahead(queries, keys, device, chosen)
        return ((ahead >= -self.before) & (ahead <= self.after))[None, None]


@dataclass(frozen=True)
class Packed:
    """Several sequences laid end to end in one row: `offsets` holds the start of each and the end of the last.

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
        query_sequence = (sequence if chosen is None else sequence[chosen])[:, None]
        allowed = (query_sequence == sequence) & (query_sequence > 0) & (query_sequence < len(offsets))
        if self.causal:
            allowed = allowed & (_ahead(queries, keys, device, chosen) <= 0)
        return allowed[None, None]


@dataclass(frozen=True)
class Every:
    """A query sees a key only if all of the masks allow it: `Every((Causal(), Lengths(n)))`."""

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
    """Return the boolean tensor of a mask, for all queries or the `chosen` ones."""
    if not isinstance(mask, Tensor):
        return mask.as_tensor(queries, keys, device, chosen)
    if mask.dtype != torch.bool:
        raise TypeError(f"a mask is a boolean tensor in which True means 'may look', got {mask.dtype}")
    mask = mask[(None,) * (4 - mask.dim())]  # add the leading axes up to four
    return mask if chosen is None or mask.shape[-2] == 1 else mask[..., chosen, :]


def _ahead(queries: int, keys: int, device: torch.device, chosen: Tensor | None) -> Int[Tensor, "query key"]:
    """Return how far each key is ahead of each query; the queries are the last of the keys' places."""
    query_places = torch.arange(keys - queries, keys, device=device)
    query_places = query_places if chosen is None else query_places[chosen]
    return torch.arange(keys, device=device) - query_places[:, None]
