"""From gates to attention in four steps: five causal language models that differ in how a state mixes its past.

Each block of a decoder-only Transformer mixes the tokens read so far, h_t = Σ_{i≤t} α_ti h̃_i, by one of these steps:

    0  α_ti = (1 − z_i) Π_{j=i+1..t} z_j unit by unit, h̃_i = tanh(W x_i + r_i ⊙ U h_{i−1}): a GRU, written as a sum
    1  α_ti ∝ exp(score(h̃_i, x_t)): the weights no longer depend on gates, the candidates still read the previous state
    2  h̃_i = f(x_i) = tanh(W x_i): the candidates are independent too, and nothing needs to be read one by one
    3  α_ti ∝ exp(score(K x_i, x_t)): keys separate from the values
    4  heads, each with its own queries, keys and values

The score is qᵀk / √d with q = Q x_t. There is nothing before the first token, so its gate keeps nothing (z_1 = 0), and
the weights of step 0 sum to one like all others; products Π z_j alone, as they are sometimes printed, do not.

Everything around the mixing is the same for all steps: embeddings and positions, W_O, residuals, norms and feed-forward
nets as in GPT (`regard.models.gpt`). Step 4 differs from GPT's heads in the tanh of its values.
"""

from typing import Any, Literal

import torch
from jaxtyping import Bool, Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import Attention, is_watched, note, without_watching
from regard.attention.editing import edited_units
from regard.attention.heads import Cache, extend_cache
from regard.attention.masks import Mask, as_tensor
from regard.attention.positions import First
from regard.attention.scores import scaled_dot
from regard.base.head_costs import Depths, looking_cost
from regard.models.gpt import memory as remembered
from regard.models.gpt.network import GPT
from regard.models.gpt.options import GPTOptions
from regard.models.language import TEXT, Memory
from regard.models.parts import FeedForward, Residual, count_matrix_weights
from regard.models.recurrent.implied import mean_weights

States = Float[Tensor, "row time width"]


class FromGatesOptions(GPTOptions):
    """Options of a language model between gates and attention; the preset fills in sizes that are not set."""

    preset: Literal["tiny", "shakespeare", "small"] = Field(
        default="tiny", description="A named set of sizes: tiny, shakespeare or small, as in family gpt."
    )
    step: int = Field(
        default=4,
        ge=0,
        le=4,
        description="How a state mixes its past: 0 by gates, 1 by free weights, 2 with free candidates too, 3 with "
        "separate keys and values, 4 with several heads.",
    )

    @model_validator(mode="after")
    def _check_step(self) -> "FromGatesOptions":
        if self.positions in ("rotary", "alibi"):
            raise ValueError(f"positions is '{self.positions}', which is for family gpt; here they are added to inputs")
        if self.key_value_heads is not None:
            raise ValueError("key_value_heads is for family gpt; here every head has its own keys and values")
        return self

    @property
    def looks(self) -> int:
        """Number of heads in a block: `heads` at the last step, one before it."""
        return self.heads if self.step == 4 else 1


class Gates(nn.Module):
    """Step 0: h_t = z_t ⊙ h_{t−1} + (1 − z_t) ⊙ h̃_t; its cache holds the gates z and the states."""

    looks_from, looks_at = TEXT, TEXT
    edits = ("state",)
    not_edited = (
        "Gates weigh every unit of the past differently, so there are no attention weights to edit; edit the state."
    )

    def __init__(self, options: FromGatesOptions) -> None:
        super().__init__()
        self.width = options.width
        self.from_input = nn.Linear(self.width, 3 * self.width)  # for the update gate, the reset gate, the candidate
        self.from_state = nn.Linear(self.width, 3 * self.width)
        self.out = nn.Linear(self.width, self.width)

    def forward(self, states: States, past: Cache | None, mask: Mask, places: First = 0) -> tuple[States, Cache]:
        inputs, begins, hidden = self.from_input(states), _begins(states, past, mask), _last_state(states, past)
        updates, outputs = [], []
        for place in range(states.shape[1]):
            read, back = inputs[:, place], self.from_state(hidden)
            update = (read[:, : self.width] + back[:, : self.width]).sigmoid()
            update = update.masked_fill(begins[:, place, None], 0.0)
            hidden = update * hidden + (1 - update) * _candidate(read[:, self.width :], back[:, self.width :])
            hidden = edited_units(self, "state", hidden[:, None], _at(places, place))[:, 0]
            updates.append(update)
            outputs.append(hidden)
        mixed = torch.stack(outputs, dim=1)
        cache = extend_cache(past, Cache(torch.stack(updates, dim=1)[:, None], mixed[:, None]))
        if is_watched():
            note(self, self.looks_from, self.looks_at, mean_weights(cache.keys[:, 0])[:, None, -states.shape[1] :, 1:])
        return self.out(mixed), cache


class Weights(nn.Module):
    """Step 1: h_t = Σ α_ti h̃_i with weights free of the gates; its cache holds the candidates and the states."""

    def __init__(self, options: FromGatesOptions) -> None:
        super().__init__()
        width = options.width
        self.from_input = nn.Linear(width, 2 * width)  # for the reset gate and the candidate
        self.from_state = nn.Linear(width, 2 * width)
        self.to_query, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.look = Attention(scaled_dot, looks_from=TEXT, looks_at=TEXT, dropout=options.attention_dropout)

    def forward(self, states: States, past: Cache | None, mask: Mask, places: First = 0) -> tuple[States, Cache]:
        inputs, queries, hidden = self.from_input(states), self.to_query(states)[:, None], _last_state(states, past)
        time, before = states.shape[1], _columns(past)
        allowed = as_tensor(mask, time, before + time, states.device)
        candidates = hidden.new_zeros(len(hidden), 1, 0, hidden.shape[1]) if past is None else past.keys
        outputs = []
        with without_watching():  # one look for all places is recorded below
            for place in range(time):
                new = _candidate(inputs[:, place], self.from_state(hidden))
                candidates = torch.cat([candidates, new[:, None, None]], dim=2)
                place_mask = allowed[:, :, place : place + 1, : before + place + 1]
                query = queries[:, :, place : place + 1]
                hidden = self.look(query, candidates, candidates, place_mask, places=_at(places, place))[:, 0, 0]
                outputs.append(hidden)
        mixed = torch.stack(outputs, dim=1)
        if is_watched():
            self.look(queries, candidates, candidates, mask, places=places)
        values = mixed[:, None] if past is None else torch.cat([past.values, mixed[:, None]], dim=2)
        return self.out(mixed), Cache(candidates, values)


class Free(nn.Module):
    """Steps 2 to 4: h_t = Σ α_ti f(x_i); candidates are their own keys or have separate ones, in one or more heads."""

    def __init__(self, options: FromGatesOptions) -> None:
        super().__init__()
        width, self.heads = options.width, options.looks
        self.to_query, self.to_value = nn.Linear(width, width), nn.Linear(width, width)
        self.to_key = nn.Linear(width, width) if options.step > 2 else None
        self.out = nn.Linear(width, width)
        self.look = Attention(scaled_dot, looks_from=TEXT, looks_at=TEXT, dropout=options.attention_dropout)

    def forward(self, states: States, past: Cache | None, mask: Mask, places: First = 0) -> tuple[States, Cache]:
        queries, values = self._split(self.to_query(states)), self._split(self.to_value(states).tanh())
        keys = values if self.to_key is None else self._split(self.to_key(states))
        cache = extend_cache(past, Cache(keys, values))
        context = self.look(queries, cache.keys, cache.values, mask, places=places)
        return self.out(context.transpose(1, 2).flatten(2)), cache

    def _split(self, states: States) -> Float[Tensor, "row head time depth"]:
        return states.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def _at(places: First, number: int) -> int | Tensor:
    """Return the place of one of the tokens that begin at `places`."""
    return places + number if isinstance(places, int) else places[..., number : number + 1]


def _candidate(inputs: Float[Tensor, "row parts"], back: Float[Tensor, "row parts"]) -> Float[Tensor, "row width"]:
    """Return tanh(W x + r ⊙ U h), r the reset gate, from the terms of the input and of the previous state."""
    (reset_in, candidate_in), (reset_back, candidate_back) = inputs.chunk(2, dim=-1), back.chunk(2, dim=-1)
    return (candidate_in + (reset_in + reset_back).sigmoid() * candidate_back).tanh()


def _columns(past: Cache | None) -> int:
    return 0 if past is None else past.keys.shape[2]


def _last_state(states: States, past: Cache | None) -> Float[Tensor, "row width"]:
    """Return the state after the last token; rows are flush right, and a row without tokens has zeros."""
    return torch.zeros_like(states[:, 0]) if past is None else past.values[:, 0, -1]


def _begins(states: States, past: Cache | None, mask: Mask) -> Bool[Tensor, "row time"]:
    """Return True for the first token of a row, which can only look at itself."""
    time = states.shape[1]
    allowed = as_tensor(mask, time, _columns(past) + time, states.device)
    return (allowed.sum(dim=-1) == 1)[:, 0].expand(len(states), -1)


class FromGatesBlock(nn.Module):
    """The mixing of one step, then the feed-forward net, each with its residual."""

    def __init__(self, options: FromGatesOptions) -> None:
        super().__init__()
        self.look_back = {0: Gates, 1: Weights}.get(options.step, Free)(options)
        self.feed_forward = FeedForward(options.width, options.inside, options.activation, dropout=0.0)
        self.around_look = Residual(options.width, options.dropout, options.norm)
        self.around_feed_forward = Residual(options.width, options.dropout, options.norm)

    def forward(self, states: States, past: Cache | None, mask: Mask, places: First) -> tuple[States, Cache]:
        """Return the new states, and the cache extended by these places."""
        caches: list[Cache] = []

        def look(inputs: Tensor) -> Tensor:
            output, cache = self.look_back(inputs, past, mask, places)
            caches.append(cache)
            return output

        states = self.around_look(states, look)
        return self.around_feed_forward(states, self.feed_forward), caches[0]


class FromGates(GPT):
    """A language model between gates and attention: GPT with the mixing of a step in its blocks."""

    has_caches = False  # no room can be reserved: steps 0 and 1 do not remember keys and values
    options: FromGatesOptions

    @staticmethod
    def make_block(options: Any) -> nn.Module:
        return FromGatesBlock(options)

    def begin(self, rows: int) -> Memory:
        heads, width = self.options.looks, self.options.width
        return remembered.begin(self.embedding.weight.new_zeros(rows, heads, 0, width // heads), self.options.layers)

    def _can_fuse(self, tokens: Tensor) -> bool:
        return False  # the kernels support only GPT's heads

    def multiplications(self, size: int) -> int:
        """Return the multiplications: all matrices per token and, from step 1 on, attention within the context."""
        matrices = count_matrix_weights(self.blocks) + self.output.weight.numel()
        if not self.options.step:
            return size * matrices
        depth = self.options.width // self.options.looks
        within, rest = divmod(size, self.context)
        whole, part = (
            looking_cost(self.options.looks, self.options.looks, Depths(depth, depth), "scaled-dot", length)
            for length in (self.context, rest)
        )
        return size * matrices + self.options.layers * (within * whole + part)
