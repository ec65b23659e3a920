"""The one attention that all models share: score, mask and normalise, mix, note.

A mask is True where a query may look. A query that may look nowhere gets weights and a context of zero, never NaN.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.editing import edited_units, edited_weights, is_edited
from regard.attention.hard import Chosen, Hard, Manners, take_chosen
from regard.attention.local import Focus
from regard.attention.masks import Causal, Every, Mask, as_tensor
from regard.attention.normalisers import Normaliser, softmax
from regard.attention.positions import First
from regard.attention.scores import PreparedKeys, Score, compare, follows, gathers, prepare, product_scale, scaled_dot
from regard.attention.watch import PartMakers, afford, is_watched, note, note_beside, wants_parts

__all__ = ["Attention", "Look", "PreparedKeys"]

Queries = Float[Tensor, "batch head query query_depth"]
Keys = Float[Tensor, "batch key_head key key_depth"]
Values = Float[Tensor, "batch key_head key width"]
Bias = Float[Tensor, "#batch #head #query key"]


class Look(NamedTuple):
    """The result of attention: mixed values and weights.

    Hard attention also gives the log-probability of the chosen place and the entropy of the distribution it was sampled
    from; both are zero where nothing was chosen.
    """

    context: Float[Tensor, "batch head query width"]
    weights: Float[Tensor, "batch head query key"]
    log_probability: Float[Tensor, "batch head query"]
    entropy: Float[Tensor, "batch head query"]


class Attention(nn.Module):
    """Mix the values by how well each key answers each query.

    - `score`: compares queries with keys; a callable from `regard.attention.scores` or your own.
    - `looks_from`, `looks_at`: names of the two sides, as shown by `watching`.
    - `dropout`: applied to the weights, in training only (Vaswani et al. 2017 do not mention it, but their code has
      it).
    - `normaliser`: turns scores into weights; `focus` narrows them to a window; `choice` keeps a single place.
    """

    edits = ("weights", "head")  # parts that `editing` can change

    def __init__(
        self,
        score: Score = scaled_dot,
        *,
        looks_from: str,
        looks_at: str,
        dropout: float = 0.0,
        normaliser: Normaliser = softmax,
        focus: Focus | None = None,
        choice: Hard | None = None,
    ) -> None:
        super().__init__()
        self.score, self.looks_from, self.looks_at, self.dropout = score, looks_from, looks_at, dropout
        self.normaliser, self.focus, self.choice = normaliser, focus, choice
        # True if a look depends on where the previous look rested.
        self.follows = follows(score)
        # True if it depends on all previous looks, not only the last.
        self.gathers = gathers(score)

    def prepare(self, key: Keys) -> PreparedKeys:
        """Return the part of the score that depends on the keys alone, computed once for all queries."""
        return prepare(self.score, key)

    def forward(
        self,
        query: Queries,
        key: Keys | PreparedKeys,
        value: Values,
        mask: Mask | None = None,
        bias: Bias | None = None,
        places: First = 0,
    ) -> Float[Tensor, "batch head query width"]:
        """Return the context of each query, by the fused kernel where there is one.

        Watching does not change which path is taken, nor does editing the output of heads; edited weights are computed
        in memory. The arguments are those of `full`.
        """
        self._refuse_lonely_looks()
        prepared = key if isinstance(key, PreparedKeys) else self.prepare(key)
        _check_axes(query, prepared.keys, value)
        scale = product_scale(self.score, query.shape[-1])
        special = self.normaliser is not softmax or self.focus is not None or self.choice is not None
        if scale is None or special or is_edited(self, "weights"):
            return self._look(query, prepared, value, mask, bias=bias, places=places).context
        if not is_watched(self):
            context = self._fuse(query, prepared.keys, value, mask, bias, scale)
            return edited_units(self, "head", context, places)
        afford(self, (*query.shape[:-1], value.shape[-2]), query.element_size())
        context = edited_units(self, "head", self._fuse(query, prepared.keys, value, mask, bias, scale), places)
        self._note_beside(query, prepared.keys, value, context, mask, bias)
        return context

    def full(
        self,
        query: Queries,
        key: Keys | PreparedKeys,
        value: Values,
        mask: Mask | None = None,
        previous: Float[Tensor, "batch head query key"] | None = None,
        places: First = 0,
        bias: Bias | None = None,
        manners: Manners | None = None,
    ) -> Look:
        """Return the context, weights and log-probability of every look.

        `bias` is added to the scores, and -inf bars a key.

        There may be more query heads than key and value heads: each key and value head then serves a group of query
        heads. `previous` holds the weights of each query's previous look, for scores that follow it; None means a first
        look. `places` is the place of the first query, which the others follow, or the places of all: windows that move
        with the query and edits need them.
        `manners` says how each query chooses (`regard.attention.hard.Manner`).
        """
        prepared = key if isinstance(key, PreparedKeys) else self.prepare(key)
        _check_axes(query, prepared.keys, value)
        return self._look(query, prepared, value, mask, previous=previous, bias=bias, places=places, manners=manners)

    def _look(
        self,
        query: Tensor,
        prepared: PreparedKeys,
        value: Tensor,
        mask: Mask | None,
        *,
        previous: Tensor | None = None,
        bias: Tensor | None = None,
        places: First = 0,
        manners: Tensor | None = None,
    ) -> Look:
        """Compute attention step by step, with the weights in memory."""
        queries, keys = query.shape[-2], value.shape[-2]
        afford(self, (*query.shape[:-1], keys), query.element_size())
        if query.shape[1] != value.shape[1]:
            prepared, value = PreparedKeys(_spread(prepared.keys, query.shape[1])), _spread(value, query.shape[1])
        allowed = None if mask is None else as_tensor(mask, queries, keys, query.device)
        scores = compare(self.score, query, prepared, previous)
        raw = scores if wants_parts(self) else None
        if bias is not None:
            scores, allowed = scores + bias, _allowed_after_bias(bias, allowed)
        weights = self._weigh(query, scores, allowed, places) if keys else scores
        if self.choice is None or not keys:
            nothing = _zero(weights.dtype, weights.device).expand(weights.shape[:-1])
            chosen = Chosen(weights, nothing, nothing, None)
        else:
            chosen = self.choice(weights, manners)
        if is_edited(self, "weights"):
            chosen = chosen._replace(weights=edited_weights(self, chosen.weights, allowed, places), place=None)
        drops = self.dropout and self.training
        if chosen.place is not None and not drops:
            context = take_chosen(value, chosen)
        else:
            context = (F.dropout(chosen.weights, self.dropout) if drops else chosen.weights) @ value
        context = edited_units(self, "head", context, places)
        makers = None if raw is None else _part_makers(query, prepared.keys, value, context, raw, allowed, bias)
        note(self, self.looks_from, self.looks_at, chosen.weights, makers)
        return Look(context, chosen.weights, chosen.log_probability, chosen.entropy)

    def _weigh(self, query: Tensor, scores: Tensor, allowed: Tensor | None, places: First) -> Tensor:
        """Turn scores into weights, inside the focus if there is one."""
        if self.focus is None:
            return self.normaliser(scores, allowed)
        queries, keys = scores.shape[-2:]
        if allowed is None:
            allowed = torch.ones(1, 1, 1, keys, dtype=torch.bool, device=scores.device)
        if isinstance(places, int):
            places = torch.arange(places, places + queries, device=scores.device)
        focused = self.focus(query, places, allowed)
        return self.normaliser(scores, focused.allowed) * focused.factor

    def _fuse(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Mask | None, bias: Tensor | None, scale: float
    ) -> Tensor:
        """Compute softmax(scale · Q Kᵀ + bias) V in one kernel, which never holds the weights in memory."""
        queries, keys = query.shape[-2], key.shape[-2]
        dropout = self.dropout if self.training else 0.0
        if isinstance(mask, Causal) and queries == 1:
            mask = None  # the newest place sees everything behind it
        causal = isinstance(mask, Causal)
        if bias is None and (mask is None or (causal and queries == keys)):
            grouped = query.shape[1] != key.shape[1]
            return F.scaled_dot_product_attention(
                query, key, value, dropout_p=dropout, is_causal=causal, scale=scale, enable_gqa=grouped
            )
        key, value = _spread(key, query.shape[1]), _spread(value, query.shape[1])
        allowed = as_tensor(Every(()) if mask is None else mask, queries, keys, query.device)
        allowed = allowed if bias is None else _allowed_after_bias(bias, allowed)
        # A row without any key gives NaN in some kernels, so a lost query sees all keys and is zeroed afterwards.
        lost = ~allowed.any(dim=-1, keepdim=True)
        added = allowed | lost if bias is None else bias.masked_fill(~allowed, float("-inf")).masked_fill(lost, 0.0)
        return F.scaled_dot_product_attention(query, key, value, added, dropout, scale=scale).masked_fill(lost, 0.0)

    def _note_beside(
        self, query: Tensor, key: Tensor, value: Tensor, context: Tensor, mask: Mask | None, bias: Tensor | None
    ) -> None:
        """Note the weights of a fused look for watchers, and its parts if they ask for them."""
        heads, queries, keys = query.shape[1], query.shape[2], key.shape[2]

        def compared(rows: list[int], places: list[int]) -> tuple[Tensor, Tensor | None, Tensor | None]:
            """Return the scores of some queries, where they may look, and the bias of their scores."""
            chosen_rows, chosen = (torch.tensor(indices, device=query.device) for indices in (rows, places))
            prepared = PreparedKeys(_spread(_of_rows(key, chosen_rows), heads))
            scores = compare(self.score, _of_rows(query, chosen_rows)[:, :, chosen], prepared)
            allowed = added = None
            if mask is not None:
                allowed = _of_rows(as_tensor(mask, queries, keys, query.device, chosen), chosen_rows)
            if bias is not None:
                added = _of_rows(bias if bias.shape[2] == 1 else bias[:, :, chosen], chosen_rows)
                allowed = _allowed_after_bias(added, allowed)
            return scores, allowed, added

        def weigh(rows: list[int], places: list[int]) -> Tensor:
            scores, allowed, added = compared(rows, places)
            return softmax(scores if added is None else scores + added, allowed)

        def makers(rows: list[int], places: list[int]) -> Mapping[str, Callable[[], Tensor]]:
            scores, allowed, added = compared(rows, places)
            make = _part_makers(
                query[rows][:, :, places], key[rows], value[rows], context[rows][:, :, places], scores, allowed, added
            )
            return make(list(range(len(rows))), list(range(len(places))))

        shape = query.shape[0], heads, queries, keys
        wanted = makers if wants_parts(self) else None
        note_beside(self, self.looks_from, self.looks_at, shape, query.element_size(), weigh, wanted)

    def _refuse_lonely_looks(self) -> None:
        """Refuse a context alone where the next look or the loss needs more than that."""
        if self.follows:
            raise ValueError("this score follows the previous look: call look.full(…, previous=weights), not look(…)")
        if self.choice is not None and self.choice.estimator == "reinforce":
            raise ValueError("this choice learns by REINFORCE from its log_probability: call look.full(…), not look(…)")


@cache
@torch.inference_mode(False)  # a first caller in inference mode must not bar later callers from gradients
def _zero(dtype: torch.dtype, device: torch.device) -> Tensor:
    """One zero shared by all looks that choose nothing; a new one each time would cost a kernel per decoder step."""
    return torch.zeros((), dtype=dtype, device=device)


def _check_axes(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Refuse shapes that would otherwise broadcast or fail deep inside a kernel, and name the axis."""
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dim() != 4:
            raise ValueError(f"{name} needs the axes (batch, head, {name}, depth), got {tuple(tensor.shape)}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"there are {key.shape[-2]} keys but {value.shape[-2]} values")
    if query.shape[0] != key.shape[0]:
        raise ValueError(f"query has {query.shape[0]} along 'batch', key has {key.shape[0]}")
    if key.shape[1] != value.shape[1]:
        raise ValueError(f"there are {key.shape[1]} heads of keys but {value.shape[1]} of values")
    if query.shape[1] % key.shape[1]:
        raise ValueError(f"{query.shape[1]} heads of queries cannot share {key.shape[1]} heads of keys evenly")


def _allowed_after_bias(bias: Tensor, allowed: Tensor | None) -> Tensor:
    """Return where a query may look after a bias with some -inf entries is added to its scores."""
    unbarred = bias > float("-inf")
    return unbarred if allowed is None else unbarred & allowed


def _part_makers(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    context: Tensor,
    scores: Tensor,
    allowed: Tensor | None,
    bias: Tensor | None,
) -> PartMakers:
    """Return functions that select the parts of a look; shared keys and values are repeated for every query head."""
    heads = query.shape[1]

    def mask() -> Tensor:
        added = torch.zeros_like(scores) if bias is None else bias.expand_as(scores)
        return added if allowed is None else added.masked_fill(~allowed, float("-inf"))

    def makers(rows: list[int], queries: list[int]) -> dict[str, Callable[[], Tensor]]:
        return {
            "scores": lambda: scores[rows][:, :, queries],
            "mask": lambda: mask()[rows][:, :, queries],
            "queries": lambda: query[rows][:, :, queries],
            "keys": lambda: _spread(key[rows], heads),
            "values": lambda: _spread(value[rows], heads),
            "outputs": lambda: context[rows][:, :, queries],
        }

    return makers


def _spread(tensor: Tensor, heads: int) -> Tensor:
    """Repeat each key or value head for every query head in its group."""
    return tensor if tensor.shape[1] == heads else tensor.repeat_interleave(heads // tensor.shape[1], dim=1)


def _of_rows(tensor: Tensor, rows: Tensor) -> Tensor:
    """Select rows of a tensor that has either one row per input or a single row for all."""
    return tensor if tensor.shape[0] == 1 else tensor[rows]
