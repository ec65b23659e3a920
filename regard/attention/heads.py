"""Several attentions side by side, each in its own projection of queries, keys and values."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.core import Attention, PreparedKeys
from regard.attention.masks import Mask
from regard.attention.positions import First, alibi_bias, rotate
from regard.attention.scores import ScoreName, named_score
from regard.base.head_costs import Depths, Join, head_depths, looking_cost


class Cache(NamedTuple):
    """Keys and values of the tokens seen so far, passed in and returned by each call, never stored on a module."""

    keys: Float[Tensor, "batch head key depth"]  # as the score prepares them
    values: Float[Tensor, "batch head key depth"]


@dataclass(frozen=True)
class HeadOptions:
    """Options by which heads differ from the published ones.

    - `key_value_heads`: number of key and value heads, each shared by a group of query heads (Ainslie et al. 2023); 1
      is multi-query attention (Shazeer 2019), None means one for each query head.
    - `shared_key_value`: use the keys as values, with one projection.
    - `join`: concatenate and project the heads, or give each the full width and average them.
    - `score`: by name; a score that follows the previous look cannot serve queries that look all at once.
    - `positions`: none, rotary (queries and keys are rotated) or alibi (distance counts against a key).
    """

    key_value_heads: int | None = None
    shared_key_value: bool = False
    join: Join = "concatenated"
    score: ScoreName = "scaled-dot"
    positions: Literal["none", "rotary", "alibi"] = "none"


class MultiHead(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1 … head_h) W_O (Vaswani et al. 2017, section 3.2.2).

    With `join` "averaged" it is the mean of head_1 … head_h, whose values have the full width, and there is no W_O.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        looks_from: str,
        looks_at: str,
        dropout: float = 0.0,
        options: HeadOptions | None = None,
    ) -> None:
        super().__init__()
        options = options or HeadOptions()
        self.heads, self.options = heads, options
        self.key_value_heads = options.key_value_heads or heads
        _check(width, heads, self.key_value_heads, options)
        self.key_depth, self.value_depth = head_depths(width, heads, options.join, options.shared_key_value)
        keys, values = self.key_value_heads * self.key_depth, self.key_value_heads * self.value_depth
        self.sizes = [keys] if options.shared_key_value else [keys, values]
        self.to_query = nn.Linear(width, heads * self.key_depth)
        self.to_key_value = nn.Linear(width, sum(self.sizes))
        self.out = nn.Linear(width, width) if options.join == "concatenated" else nn.Identity()
        score = named_score(options.score, self.key_depth, self.key_depth, hidden=self.key_depth)
        self.look = Attention(score, looks_from=looks_from, looks_at=looks_at, dropout=dropout)
        for projection, sizes in ((self.to_query, None), (self.to_key_value, self.sizes), (self.out, None)):
            _initialise(projection, sizes)

    def remember(self, memory: Float[Tensor, "batch key width"], first: First = 0) -> Cache:
        """Return the keys and values of `memory`, whose first token stands at place `first`."""
        parts = self.to_key_value(memory).split(self.sizes, dim=-1)
        keys, values = (_split(part, self.key_value_heads) for part in (parts[0], parts[-1]))
        return Cache(self.look.prepare(self._rotate(keys, first)).keys, values)

    def forward(
        self, states: Float[Tensor, "batch query width"], cache: Cache, mask: Mask | None = None, first: First = 0
    ) -> Float[Tensor, "batch query width"]:
        """Look from `states`, whose first token stands at place `first`, at the cached keys and values."""
        query = self._rotate(_split(self.to_query(states), self.heads), first)
        bias = None
        if self.options.positions == "alibi":
            assert isinstance(first, int)  # distances are measured between places in the cache
            bias = self._bias(query, cache.keys, first)
        return self._join(self.look(query, PreparedKeys(cache.keys), cache.values, mask, bias, first))

    def look_with(
        self,
        states: Float[Tensor, "batch query width"],
        cache: Cache,
        bias: Float[Tensor, "#batch #head #query key"],
        places: First,
    ) -> Float[Tensor, "batch query width"]:
        """Look from `states` with a bias on the scores instead of a mask: -inf where a query may not look."""
        query = self._rotate(_split(self.to_query(states), self.heads), places)
        return self._join(self.look(query, PreparedKeys(cache.keys), cache.values, None, bias))

    def _join(self, context: Float[Tensor, "batch head query depth"]) -> Float[Tensor, "batch query width"]:
        if self.options.join == "averaged":
            return context.mean(dim=1)
        return self.out(context.transpose(1, 2).flatten(2))

    def multiplications(self, length: int) -> int:
        """Return the multiplications for attention over `length` places without projections: scores, then mixing."""
        depths = Depths(self.key_depth, self.value_depth)
        return looking_cost(self.heads, self.key_value_heads, depths, self.options.score, length)

    def _rotate(self, states: Tensor, first: First) -> Tensor:
        return rotate(states, first) if self.options.positions == "rotary" else states

    def _bias(self, query: Tensor, key: Tensor, first: int) -> Tensor:
        places = torch.arange(max(first + query.shape[2], key.shape[2]), device=query.device)
        return alibi_bias(self.heads, places[first : first + query.shape[2]], places[: key.shape[2]]).to(query.dtype)


def _check(width: int, heads: int, key_value_heads: int, options: HeadOptions) -> None:
    if width % heads:
        raise ValueError(f"width {width} cannot be shared out among {heads} heads")
    if heads % key_value_heads:
        raise ValueError(f"{heads} heads cannot share {key_value_heads} heads of keys and values evenly")
    if options.score in ("location", "mixed"):
        raise ValueError(
            f"the score '{options.score}' follows the previous look, but heads look from all places at once"
        )


def _initialise(projection: nn.Module, sizes: list[int] | None) -> None:
    """Initialise a linear layer with Glorot's uniform, each of its parts as if it stood alone."""
    if isinstance(projection, nn.Linear):
        for part in projection.weight.split(sizes or projection.out_features):
            nn.init.xavier_uniform_(part)
        nn.init.zeros_(projection.bias)


def _split(states: Float[Tensor, "batch time width"], heads: int) -> Float[Tensor, "batch head time depth"]:
    return states.unflatten(-1, (heads, -1)).transpose(1, 2)


def extend_cache(cache: Cache | None, new: Cache) -> Cache:
    """Append later keys and values to the cache."""
    if cache is None:
        return new
    return Cache(torch.cat([cache.keys, new.keys], dim=2), torch.cat([cache.values, new.values], dim=2))


def cut_cache(cache: Cache, count: int) -> Cache:
    """Return the cache without its last `count` keys and values, of which there are more."""
    return Cache(cache.keys[:, :, :-count], cache.values[:, :, :-count])
