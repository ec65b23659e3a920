"""Copying: the next token comes from the vocabulary or from a place of the source.

The pointer-generator network and its coverage (See et al. 2017, "Get To The Point", equations 8 to 13). Departures: the
paper's switch reads the context, the decoder's state and its input; ours reads the state that the output layer reads,
which is computed from them. Our sources close with an end token, which is never copied: attention on it goes to the
vocabulary, like the sentinel of Merity et al. (2017). Attention that has nothing to copy rests there, and if the end
could be copied, every step would offer to stop.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention import Attention, Lengths, is_watched, note
from regard.attention.editing import edited_weights, is_edited, place_of_step, side_by_side
from regard.attention.scores import scaled_dot

LEAST = torch.finfo(torch.float32).tiny  # probability of words outside the vocabulary, so that losses are finite


class Pointed(NamedTuple):
    """States to write from, the source places that they point at, and the switch to the vocabulary."""

    states: Float[Tensor, "*place width"]
    weights: Float[Tensor, "*place source"]  # α, zero at the end of the source
    switch: Float[Tensor, "*place"]  # p_gen = σ(switch); (1 − p_gen) · α is copied, and the rest is written

    def flatten(self) -> "Pointed":
        """Join all rows and places in one axis."""
        return Pointed(self.states.flatten(0, -2), self.weights.flatten(0, -2), self.switch.flatten())

    def take(self, places: Int[Tensor, " token"]) -> "Pointed":
        """Select some places."""
        return Pointed(*(tensor.index_select(0, places) for tensor in self))


class Copying(nn.Module):
    """The switch between writing and copying: p_gen = σ(w · s + b), for the state s of each place."""

    looks_from, looks_at = "target", "origins"
    edits = ("weights",)  # of the origins: key 0 is the vocabulary, key n + 1 the place n of the source

    def __init__(self, width: int) -> None:
        super().__init__()
        self.switch = nn.Linear(width, 1)

    def forward(
        self,
        states: Float[Tensor, "row target width"],
        weights: Float[Tensor, "row target source"],
        lengths: Int[Tensor, " batch"],
    ) -> Pointed:
        """Return states, copy weights and switch; the rows of one sentence share its length."""
        is_end = torch.arange(weights.shape[-1], device=weights.device) == lengths[:, None] - 1
        is_end = is_end.repeat_interleave(len(weights) // len(lengths), 0)
        pointed = Pointed(states, weights.masked_fill(is_end[:, None], 0.0), self.switch(states).squeeze(-1))
        if is_edited(self, "weights"):
            pointed = self._edit(pointed, lengths)
        if is_watched(self):
            note(self, self.looks_from, self.looks_at, _origins(pointed)[:, None])
        return pointed

    def _edit(self, pointed: Pointed, lengths: Int[Tensor, " batch"]) -> Pointed:
        """Return weights and switch that give the origins as edited; some chance is left to the vocabulary."""
        origins = _origins(pointed)
        places = torch.arange(origins.shape[-1], device=origins.device)
        may = (places < lengths[:, None]).repeat_interleave(len(origins) // len(lengths), 0)  # one more: the vocabulary
        edited = edited_weights(self, origins[:, None], may[:, None, None], place_of_step(self, "weights"))[:, 0]
        copied, unchanged = edited[..., 1:], (edited == origins).all(-1)
        share = copied.sum(-1)
        weights, switch = copied / share.clamp(min=LEAST)[..., None], -share.logit(eps=torch.finfo(share.dtype).eps)
        return Pointed(
            pointed.states,
            torch.where(unchanged[..., None], pointed.weights, weights),
            torch.where(unchanged, pointed.switch, switch),
        )


def _origins(pointed: Pointed) -> Float[Tensor, "row target origin"]:
    """Return the share of the vocabulary, then of each place of the source."""
    copied = (-pointed.switch).sigmoid()[..., None] * pointed.weights
    return torch.cat([1 - copied.sum(-1, keepdim=True), copied], dim=-1)


class Pointer(nn.Module):
    """A head that looks at the source only to decide what to copy: α = softmax((W_q s) · (W_k m_i) / √width)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False)
        self.look = Attention(scaled_dot, looks_from="target", looks_at="source")

    def remember(self, memory: Float[Tensor, "batch source width"]) -> Float[Tensor, "batch 1 source width"]:
        """Compute the keys once."""
        return self.key(memory)[:, None]

    def forward(
        self,
        states: Float[Tensor, "row target width"],
        keys: Float[Tensor, "batch 1 source width"],
        real: Lengths,
        first: int = 0,
    ) -> Float[Tensor, "row target source"]:
        """Return where each state points, the first from place `first`; the rows of one sentence share its keys."""
        sentences, rows = keys.shape[0], states.shape[0]
        query = self.query(states).reshape(sentences, 1, -1, states.shape[-1])
        places = side_by_side(first, states.shape[1], rows // sentences, states.device)
        weights = self.look.full(query, keys, keys[..., :0], real, places=places).weights
        return weights.reshape(rows, -1, keys.shape[2])


def log_likelihood(
    logits: Float[Tensor, "token vocabulary"],
    pointed: Pointed,
    source: Int[Tensor, "token source"],
    wanted: Int[Tensor, " token"],
) -> Float[Tensor, " token"]:
    """Return log p(w) of the wanted tokens only; they may lie beyond the vocabulary.

    p(w) = (1 − (1 − p_gen) · Σ_i α_i) · P(w) + (1 − p_gen) · Σ_{i: x_i = w} α_i (See et al. 2017, equation 9, where all
    α sum to one), with x the source tokens that each place may copy.
    """
    inside = wanted < logits.shape[-1]
    right = logits.gather(-1, wanted.where(inside, 0)[:, None]).squeeze(-1) - logits.logsumexp(-1)
    copied = (pointed.weights.to(logits.dtype) * (source == wanted[:, None])).sum(-1)
    return _mix(right.where(inside, math.log(LEAST)), copied, *_shares(pointed, logits.dtype))


def log_mixture(
    logits: Float[Tensor, "token vocabulary"], pointed: Pointed, source: Int[Tensor, "token source"], further: int
) -> Float[Tensor, "token writable"]:
    """Return the mixture over all tokens of the vocabulary and `further` tokens beyond it."""
    written = F.pad(logits.log_softmax(-1), (0, further), value=math.log(LEAST))
    copied = torch.zeros_like(written).scatter_add(-1, source, pointed.weights.to(written.dtype))
    writes, copies = _shares(pointed, written.dtype)
    return _mix(written, copied, writes[:, None], copies[:, None])


def _shares(pointed: Pointed, dtype: torch.dtype) -> tuple[Float[Tensor, " token"], Float[Tensor, " token"]]:
    """Return the logs of the vocabulary's share, p_gen + (1 − p_gen) (1 − Σ α), and of 1 − p_gen."""
    switch, rest = pointed.switch.to(dtype), 1 - pointed.weights.to(dtype).sum(-1)
    copies = F.logsigmoid(-switch)
    return _add_share(F.logsigmoid(switch), rest, copies), copies


def _mix(written: Tensor, copied: Tensor, writes: Tensor, copies: Tensor) -> Tensor:
    """Return log(exp(writes + written) + exp(copies) · copied)."""
    return _add_share(writes + written, copied, copies)


def _add_share(log_one: Tensor, share: Tensor, log_whole: Tensor) -> Tensor:
    """Return log(one + share · whole), or `log_one` itself with a finite gradient where the share is zero."""
    both = torch.logaddexp(log_one, log_whole + share.clamp(min=torch.finfo(share.dtype).tiny).log())
    return torch.where(share > 0, both, log_one)


def coverage_loss(weights: Float[Tensor, "row target source"]) -> Float[Tensor, "row target"]:
    """Σ_i min(α_ti, c_ti) with c_t = Σ_{s<t} α_s: the cost of looking at a place again (equations 10 and 12)."""
    return torch.minimum(weights, weights.cumsum(dim=1) - weights).sum(-1)
