"""The one attention that all models share: score, mask and normalise, mix, note.

A mask is True where a query may look. A query that may look nowhere gets weights and a context of zero, never NaN.
"""

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention.masks import Causal, Mask, as_tensor
from regard.attention.scores import Score, scaled_dot
from regard.attention.watch import note, watched

Weights = Float[Tensor, "batch head query key"]


def normalise(
    scores: Float[Tensor, "*place key"], mask: Bool[Tensor, "*#place key"] | None
) -> Float[Tensor, "*place key"]:
    """Softmax over the keys a query may look at; all zero where it may look at none."""
    if mask is None:
        return scores.softmax(dim=-1)
    lost = ~mask.any(dim=-1, keepdim=True)
    # A row of -inf alone would give NaN, also in the gradient: a lost row is scored flat and emptied afterwards.
    scores = scores.masked_fill(~mask, float("-inf")).masked_fill(lost, 0.0)
    return scores.softmax(dim=-1).masked_fill(~mask, 0.0)


class Attention(nn.Module):
    """Mix the values by how well each key answers each query.

    `looks_from` and `looks_at` name the two sides for whoever is watching; `dropout` falls on the weights, in
    training only (Vaswani et al. 2017 leave it out of the text and have it in their code).
    """

    def __init__(self, score: Score = scaled_dot, *, looks_from: str, looks_at: str, dropout: float = 0.0) -> None:
        super().__init__()
        self.score, self.looks_from, self.looks_at, self.dropout = score, looks_from, looks_at, dropout

    def forward(
        self,
        query: Float[Tensor, "batch head query query_depth"],
        key: Float[Tensor, "batch head key key_depth"],
        value: Float[Tensor, "batch head key width"],
        mask: Mask | None = None,
    ) -> Float[Tensor, "batch head query width"]:
        _check_axes(query, key, value)
        if self.score is scaled_dot and not watched():
            return self._fused(query, key, value, mask)
        allowed = None if mask is None else as_tensor(mask, query.shape[-2], key.shape[-2], query.device)
        weights = normalise(self.score(query, key), allowed)
        note(self, self.looks_from, self.looks_at, weights)
        return F.dropout(weights, self.dropout, self.training) @ value

    def _fused(self, query: Tensor, key: Tensor, value: Tensor, mask: Mask | None) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        if mask is None:
            return F.scaled_dot_product_attention(query, key, value, dropout_p=dropout)
        if isinstance(mask, Causal):
            if query.shape[-2] == 1:  # the newest place sees everything behind it
                return F.scaled_dot_product_attention(query, key, value, dropout_p=dropout)
            if query.shape[-2] == key.shape[-2]:
                return F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
        allowed = as_tensor(mask, query.shape[-2], key.shape[-2], query.device)
        context = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed, dropout_p=dropout)
        return context.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)


def _check_axes(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Refuse by name what would otherwise broadcast or fail deep inside a kernel."""
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.dim() != 4:
            raise ValueError(f"{name} needs the axes (batch, head, {name}, depth), got {tuple(tensor.shape)}")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(f"there are {key.shape[-2]} keys but {value.shape[-2]} values")
    if query.shape[0] != key.shape[0]:
        raise ValueError(f"query has {query.shape[0]} along 'batch', key has {key.shape[0]}")
