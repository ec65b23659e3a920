"""Four recurrent decoders: without attention, Bahdanau's, Luong's and two tanh layers, each one step at a time.

A step returns `parts`, from which `readout` makes the states that the output layer reads: everything that the next step
does not need is computed for all steps at once.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention import Attention
from regard.attention.core import Look, PreparedKeys
from regard.attention.editing import is_edited, standing
from regard.attention.projected import Projections
from regard.models.recurrent.layers import Hidden, Stack, orthogonal_

Parts = tuple[Tensor, ...]


class RecurrentMemory(NamedTuple):
    """Encoded sentences: the encoder's states as values and as keys of every head, and its last state."""

    values: Float[Tensor, "batch head source width"]
    keys: PreparedKeys
    allowed: Bool[Tensor, "batch 1 1 source"]
    last: Float[Tensor, "batch width"]  # forward: the state after the last token; backward: the one at the first
    frames: tuple[Tensor, ...] = ()  # frames of the CTC head, if there is one

    @property
    def states(self) -> Float[Tensor, "batch source width"]:
        """The values of the first head; without projections they are the encoder's states."""
        return self.values[:, 0]


def unseen(last: Float[Tensor, "batch width"]) -> RecurrentMemory:
    """Return the memory for a decoder without attention, which holds only the encoder's last state."""
    nothing = last[:, None, None, :0]
    return RecurrentMemory(nothing, PreparedKeys(nothing), nothing, last)


class Writing(NamedTuple):
    """State of the decoder in each row between two steps; parts that a decoder does not use are empty."""

    hidden: list[Hidden]
    fed: Float[Tensor, "row fed"]  # the state that Luong's decoder feeds to its next step
    weights: Float[Tensor, "row seen"]  # the previous look, for location scores, or the sum of all (coverage)
    place: Int[Tensor, " row"]  # number of the next step, for windows that move with it
    manner: Int[Tensor, "row told"]  # how each row's hard looks choose in training, if that is set
    log_probability: Float[Tensor, "row time"]  # of the places that hard attention chose in this call
    entropy: Float[Tensor, "row time"]  # of the distributions they were sampled from


class Step(NamedTuple):
    """Result of one step: parts of the state to read out, the decoder's state, and its looks, if any.

    All steps at once give the same, with a time axis.
    """

    parts: Parts
    past: Writing
    looks: list[Look]  # for each sentence, with its rows as queries, or the steps of its only row


class Bottleneck(nn.Module):
    """s_t = f(s_{t−1}, y_t): it sees the source only in its initial state (Sutskever et al. 2014).

    With `context`, each step also reads the source's vector c: s_t = f(s_{t−1}, [y_t, c]) (Cho et al. 2014, 2.2).
    """

    look, projections = None, None
    uncalled_in_steps = ("stack",)  # modules whose outputs edits cannot reach in each step

    def __init__(self, stack: Stack, context: bool = False) -> None:
        super().__init__()
        self.stack, self.context, self.at_once, self.fed = stack, context, True, 0

    def step(self, embedded: Tensor, memory: RecurrentMemory, past: Writing) -> Step:
        if self.context:
            rows = len(embedded) // len(memory.last)  # rows per sentence
            embedded = torch.cat([embedded, memory.last.repeat_interleave(rows, dim=0)], dim=-1)
        state, hidden = self.stack.step(embedded, past.hidden)
        return Step((state,), past._replace(hidden=hidden), [])

    def whole(self, embedded: Tensor, memory: RecurrentMemory, past: Writing) -> Step:
        """Compute all steps at once."""
        if self.context:
            context = memory.last[:, None].expand(-1, embedded.shape[1], -1)
            embedded = torch.cat([embedded, context], dim=-1)
        states, hidden = self.stack(embedded, past.hidden)
        return Step((states,), past._replace(hidden=hidden), [])

    def readout(self, states: Tensor) -> Tensor:
        return states


class Bahdanau(nn.Module):
    """c_t = Σ α_ti h_i looked at from s_{t−1}; s_t = f(s_{t−1}, [y_t, c_t]); maxout of [s_t, y_t, c_t].

    Bahdanau et al. 2015, appendix A.2.2; their readout is printed with s_{t−1}, ours reads the newest state. With
    `token_in_score` it looks from [s_{t−1}, y_t], where y_t is the last written token.
    """

    uncalled_in_steps = ("stack",)

    def __init__(
        self,
        stack: Stack,
        look: Attention,
        projections: Projections,
        embedding: int,
        width: int,
        token_in_score: bool = False,
    ) -> None:
        super().__init__()
        self.stack, self.look, self.projections, self.at_once, self.fed = stack, look, projections, False, 0
        self.token_in_score = token_in_score
        self.deep = nn.Linear(width + embedding + projections.context_width, 2 * width)

    def step(self, embedded: Tensor, memory: RecurrentMemory, past: Writing) -> Step:
        before = past.hidden[-1][0]
        query = torch.cat([before, embedded], dim=-1) if self.token_in_score else before
        attention, context = look_from(self.look, self.projections, query, memory, past)
        state, hidden = self.stack.step(torch.cat([embedded, context], dim=-1), past.hidden)
        return Step((state, embedded, context), _onward(self.look, past, attention, hidden, past.fed), [attention])

    def readout(self, state: Tensor, embedded: Tensor, context: Tensor) -> Tensor:
        mixed = self.deep(torch.cat([state, embedded, context], dim=-1))
        return mixed.unflatten(-1, (-1, 2)).amax(-1)


class Luong(nn.Module):
    """h′_t = f(h′_{t−1}, [y_t, h_{t−1}]); c_t = Σ α_ti h_i looked at from h′_t; h_t = tanh(W_c [c_t, h′_t]).

    Luong et al. 2015, equations 5 to 7 and section 3.3. Without input feeding the cell does not get h_{t−1}, and all
    looks can be made at once.
    """

    uncalled_in_steps = ("stack",)

    def __init__(
        self, stack: Stack, look: Attention, projections: Projections, width: int, input_feeding: bool
    ) -> None:
        super().__init__()
        self.stack, self.look, self.projections = stack, look, projections
        self.at_once, self.fed = not input_feeding and not look.follows, width if input_feeding else 0
        self.combine = nn.Linear(projections.context_width + width, width, bias=False)

    def step(self, embedded: Tensor, memory: RecurrentMemory, past: Writing) -> Step:
        state, hidden = self.stack.step(torch.cat([embedded, past.fed], dim=-1) if self.fed else embedded, past.hidden)
        attention, context = look_from(self.look, self.projections, state, memory, past)
        combined = self.combine(torch.cat([context, state], dim=-1)).tanh()
        after = _onward(self.look, past, attention, hidden, combined if self.fed else past.fed)
        return Step((combined,), after, [attention])

    def whole(self, embedded: Tensor, memory: RecurrentMemory, past: Writing) -> Step:
        """Compute all steps at once, for a decoder without input feeding."""
        states, hidden = self.stack(embedded, past.hidden)
        steps = torch.arange(states.shape[1], device=states.device)
        places = past.place[0] + steps if self.look.focus is not None or is_edited() else 0
        queries = self.projections.queries(states)
        attention = self.look.full(queries, memory.keys, memory.values, memory.allowed, places=places)
        combined = self.combine(torch.cat([self.projections.join(attention.context), states], dim=-1)).tanh()
        after = past._replace(hidden=hidden, place=past.place + len(steps))
        return Step((combined,), after, [attention])

    def readout(self, combined: Tensor) -> Tensor:
        return combined


class Tanh(nn.Module):
    """h′_t = tanh(W_h [y_t, h_{t−1}] + b_h); c_t looked at from h′_t; h_t = tanh(W_c [c_t, h′_t] + b_c).

    Luong's decoder without a recurrent cell: only h_t is passed on, which has seen the source.
    """

    def __init__(self, look: Attention, projections: Projections, embedding: int, width: int) -> None:
        super().__init__()
        self.look, self.projections, self.at_once, self.fed = look, projections, False, 0
        self.enter = nn.Linear(embedding + width, width)
        self.combine = nn.Linear(projections.context_width + width, width)
        with torch.no_grad():
            nn.init.xavier_uniform_(self.enter.weight[:, :embedding])
            orthogonal_(self.enter.weight[:, embedding:])
        nn.init.xavier_uniform_(self.combine.weight)
        for layer in (self.enter, self.combine):
            nn.init.zeros_(layer.bias)

    def step(self, embedded: Tensor, memory: RecurrentMemory, past: Writing) -> Step:
        query = self.enter(torch.cat([embedded, past.hidden[0][0]], dim=-1)).tanh()
        attention, context = look_from(self.look, self.projections, query, memory, past)
        state = self.combine(torch.cat([context, query], dim=-1)).tanh()
        return Step((state,), _onward(self.look, past, attention, [(state,)], past.fed), [attention])

    def readout(self, states: Tensor) -> Tensor:
        return states


Decoder = Bottleneck | Bahdanau | Luong | Tanh


def look_from(
    look: Attention, projections: Projections, query: Float[Tensor, "row width"], memory: RecurrentMemory, past: Writing
) -> tuple[Look, Float[Tensor, "row context"]]:
    """Look from every row at the memory of its sentence, and return the look and the context of each row.

    The rows of a sentence are queries of one attention.
    """
    sentences = memory.values.shape[0]
    rows = query.shape[0] // sentences
    places = past.place[:rows] if look.focus is not None or is_edited() else 0
    with standing(places, sentences):
        attention = look.full(
            projections.queries(query.reshape(sentences, rows, -1)),
            memory.keys,
            memory.values,
            memory.allowed,
            past.weights.reshape(sentences, 1, rows, -1) if look.follows else None,
            places,
            manners=past.manner.reshape(sentences, 1, rows) if past.manner.shape[1] else None,
        )
        return attention, projections.join(attention.context).flatten(0, 1)


def _onward(look: Attention, past: Writing, attention: Look, hidden: list[Hidden], fed: Tensor) -> Writing:
    """Return the decoder's state after a step, as far as the next one needs it."""
    weights = attention.weights.flatten(0, 2) if look.follows else past.weights
    if look.gathers:
        weights = past.weights + weights
    place = past.place if look.focus is None else past.place + 1
    return past._replace(hidden=hidden, fed=fed, weights=weights, place=place)
