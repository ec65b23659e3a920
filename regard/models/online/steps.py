"""Writing online (Luo et al. 2016): read one input step after another, and at each decide to write or to wait.

At step i a recurrent net reads what a causal encoder knows there, the token it wrote last and whether it wrote just
before. Its state h_i decides, b_i ~ Bernoulli(σ(v · h_i + c)), and if b_i = 1 it also writes the next token from
softmax(W h_i). Either way it goes on to the next step, so the alignment is monotonic by construction, and what a step
costs does not depend on the length of the input. Decisions are drawn in training, and learn by REINFORCE; in use it
writes where b_i is more probable than not.

Departures from the paper ("Learning Online Alignments with Continuous Rewards Policy Gradient"): an input lasts for
`repeats` steps, for a letter may stand for two sounds; at the last step it writes whatever is left, so that every
output has a probability; a token can be made to cost more the later it is written, or waiting for that step would be
best; and rewards are compared with those of other drawn paths, not with a learnt baseline.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.attention import is_watched, note
from regard.attention.hard import Manner
from regard.models.bounds import MOST_LAYERS, WIDEST
from regard.models.cell_names import CellName
from regard.models.parts import Embedding, count_matrix_weights
from regard.models.recurrent.layers import Hidden, Stack
from regard.models.reinforcement import ReinforceOptions


class WritingOptions(ReinforceOptions):
    """Options of networks that write while they read."""

    cell: CellName = Field(default="lstm", description="The recurrent cell of all layers.")
    encoder_layers: int = Field(
        default=1, ge=1, le=MOST_LAYERS, description="Recurrent layers that read the input alone, forward only."
    )
    decoder_layers: int = Field(
        default=1, ge=1, le=MOST_LAYERS, description="Recurrent layers above them that also know what was written."
    )
    embedding: int = Field(default=256, ge=1, le=WIDEST, description="Width of the token embeddings.")
    width: int = Field(default=512, ge=1, le=WIDEST, description="Width of the states.")
    repeats: int = Field(
        default=2, ge=1, le=64, description="Steps that an input token lasts; at each one token can be written."
    )
    delay: float = Field(
        default=0.0,
        ge=0,
        description="What a token costs for each input token that is read before it is written, in nats; without it a "
        "model may as well wait for the end.",
    )
    first_chance: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="How probable it is to write at a step before anything is learnt, low where outputs are few, and "
        "where the entropy of a decision draws it to; by default about one half.",
    )
    delay_rises: int = Field(
        default=0, ge=0, description="Batches over which that cost rises evenly from nothing; 0: it is there at once."
    )
    entropy_falls: int = Field(
        default=0, ge=0, description="Batches over which the weight of the entropy falls evenly to zero; 0: it stays."
    )
    dropout: float = Field(default=0.2, ge=0, lt=1, description="Dropout on embeddings, in the encoder, on outputs.")

    @model_validator(mode="after")
    def _check(self) -> "WritingOptions":
        self.check_baseline()
        return self


class OnlineMemory(NamedTuple):
    """The encoder's state at each input token, given those before it, and the last step of each input."""

    states: Float[Tensor, "batch source width"]
    last: Int[Tensor, " batch"]


class Standing(NamedTuple):
    """Where each row stands between two tokens that it writes."""

    hidden: list[Hidden]
    step: Int[Tensor, " row"]  # which is read next
    wrote: Bool[Tensor, " row"]  # whether it did at the step before
    manner: Int[Tensor, "row told"]  # whether its decisions are drawn in training, where that is told


class Course(NamedTuple):
    """All steps that were taken to write some tokens; behind the last of them a row stands still.

    Where it is forced to write there is nothing to decide: the log-probability and the entropy are zero.
    """

    states: Float[Tensor, "row step width"]
    writes: Bool[Tensor, "row step"]
    places: Int[Tensor, "row step"]  # of the input tokens
    log_probability: Float[Tensor, "row step"]  # of the decision
    entropy: Float[Tensor, "row step"]  # of what it was drawn from

    @property
    def before(self) -> Int[Tensor, "row step"]:
        """Number of tokens written before each step."""
        return self.writes.long().cumsum(1) - self.writes.long()

    def steps_of(self, tokens: int) -> Int[Tensor, "row token"]:
        """The step at which each token is written."""
        rows, steps = self.writes.shape
        order = self.before.masked_fill(~self.writes, tokens)  # one column more, for steps that write nothing
        numbers = torch.arange(steps, device=order.device).expand(rows, -1)
        return numbers.new_zeros(rows, tokens + 1).scatter(1, order, numbers)[:, :tokens]

    def places_of(self, tokens: int) -> Int[Tensor, "row token"]:
        """The input tokens at which the tokens are written."""
        return self.places.gather(1, self.steps_of(tokens))

    def states_of(self, tokens: int) -> Float[Tensor, "row token width"]:
        """The states from which the tokens are written."""
        steps = self.steps_of(tokens).unsqueeze(-1)
        return self.states.gather(1, steps.expand(-1, -1, self.states.shape[-1]))


class Route(NamedTuple):
    """Decisions at each step, and all that the steps depend on."""

    writes: Bool[Tensor, "row step"]
    places: Int[Tensor, "row step"]  # of the input tokens
    before: Int[Tensor, "row step"]  # how many tokens had been written
    wrote: Bool[Tensor, "row step"]  # whether one was at the step before
    free: Bool[Tensor, "row step"]  # whether there was something to decide


class Decision(nn.Module):
    """σ(v · h + c): whether to write. Where it did can be watched like an attention, one place for each token."""

    looks_from, looks_at = "target", "source"

    def __init__(self, width: int, first_chance: float | None = None) -> None:
        super().__init__()
        self.gate = nn.Linear(width, 1)
        if first_chance is not None:
            nn.init.constant_(self.gate.bias, math.log(first_chance / (1 - first_chance)))

    def forward(self, state: Float[Tensor, "*place width"]) -> Float[Tensor, "*place"]:
        return self.gate(state).squeeze(-1)

    def decide(self, logit: Float[Tensor, " row"], manner: Int[Tensor, "row told"]) -> Bool[Tensor, " row"]:
        """Drawn in training, otherwise and where the best is told to be taken, the more probable."""
        best = logit > 0
        if not self.training:
            return best
        drawn = torch.rand_like(logit) < logit.sigmoid()
        return drawn if not manner.shape[1] else torch.where(manner[:, 0] == Manner.BEST, best, drawn)

    def note(self, places: Int[Tensor, "row token"], source: int) -> None:
        """Note down where in the source each token was written."""
        note(self, self.looks_from, self.looks_at, F.one_hot(places, source)[:, None].to(self.gate.weight.dtype))


class OnlineWriter(nn.Module):
    """Writes tokens from left to right while it walks along what an encoder knows, whatever that has read."""

    target_embedding: Embedding
    encoder: Stack

    def __init__(self, options: WritingOptions) -> None:
        super().__init__()
        self.options = options

    def add_decoder(self, tokens: int) -> None:
        """Add the parts that decide and write, after the embedding of what was written and the encoder."""
        options, width = self.options, self.options.width
        # No dropout between these layers: decisions and what is learnt from them must come from the same states.
        self.decoder = Stack(options.cell, width + options.embedding + 1, width, options.decoder_layers)
        self.decision = Decision(width, options.first_chance)
        self.dropout = nn.Dropout(options.dropout)
        self.out = nn.Linear(width, tokens, bias=False)
        nn.init.normal_(self.out.weight, std=width**-0.5)

    def begin(self, memory: OnlineMemory, paths: int = 1) -> Standing:
        """Before the first step, with states of zero; each input may have several rows."""
        rows = len(memory.last) * paths
        nothing = memory.states.new_zeros(rows, self.options.width)
        parts = 2 if self.options.cell == "lstm" else 1
        hidden: list[Hidden] = [(nothing,) * parts for _ in range(self.options.decoder_layers)]
        start = torch.zeros(rows, dtype=torch.long, device=nothing.device)
        return Standing(hidden, start, start.bool(), start[:, None][:, :0])

    def write(
        self, target: Int[Tensor, "row target"], memory: OnlineMemory, past: Standing
    ) -> tuple[Float[Tensor, "row target width"], Standing]:
        """The states from which the tokens behind those of `target` are written, and where each row then stands."""
        course, past = self.follow(target, memory, past)
        tokens = target.shape[1]
        if is_watched():
            self.decision.note(course.places_of(tokens), memory.states.shape[1])
        return course.states_of(tokens), past

    def follow(
        self, target: Int[Tensor, "row target"], memory: OnlineMemory, past: Standing
    ) -> tuple[Course, Standing]:
        """Every step until each row has written as many tokens as `target` has, which are those before them.

        Decisions are made step by step, without a gradient. Once they are known, so are the inputs of all steps, and
        where a gradient is wanted the steps are gone through again in one go, which is several times as fast.
        """
        embedded = self.dropout(self.target_embedding(target))
        with torch.no_grad():
            route, states, onward = self._decide(embedded, memory, past)
        if torch.is_grad_enabled():
            inputs = _inputs(memory, embedded, route.places, route.before, route.wrote)
            states, _ = self.decoder(inputs, past.hidden)
        logit = self.decision(states)
        decided = route.free.to(logit.dtype)
        chance = F.logsigmoid(torch.where(route.writes, logit, -logit)) * decided
        entropy = self._entropy(logit) * decided
        return Course(self.dropout(states), route.writes, route.places, chance, entropy), onward

    def _entropy(self, logit: Float[Tensor, "row step"]) -> Float[Tensor, "row step"]:
        """−p log p − (1−p) log (1−p); with a first chance q, log 2 − KL(p ‖ q), which is the same where q is one half.

        Where few steps write, the plain entropy would draw all of them to writing at every second step.
        """
        chance = logit.sigmoid()
        entropy = F.softplus(logit) - logit * chance
        first = self.options.first_chance
        if first is None:
            return entropy
        return entropy + chance * math.log(2 * first) + (1 - chance) * math.log(2 * (1 - first))

    def _decide(
        self, embedded: Float[Tensor, "row target depth"], memory: OnlineMemory, past: Standing
    ) -> tuple[Route, Float[Tensor, "row step width"], Standing]:
        """Which way each row takes, the states on it, and where it then stands."""
        rows, tokens, _ = embedded.shape
        last = memory.last.repeat_interleave(rows // len(memory.last))
        before, taken = torch.zeros_like(past.step), list[tuple[Tensor, ...]]()
        while not taken or bool((before < tokens).any()):
            busy, forced, place = before < tokens, past.step >= last, past.step // self.options.repeats
            inputs = _inputs(memory, embedded, place[:, None], before[:, None], past.wrote[:, None])
            state, hidden = self.decoder.step(inputs[:, 0], past.hidden)
            writes = forced | self.decision.decide(self.decision(state), past.manner)
            taken.append((state, busy & writes, place, before, past.wrote, busy & ~forced))
            before = before + (busy & writes)
            past = Standing(
                _where(busy, hidden, past.hidden),
                past.step + (busy & ~forced),
                torch.where(busy, writes, past.wrote),
                past.manner,
            )
        states, *others = (torch.stack(each, dim=1) for each in zip(*taken, strict=True))
        return Route(*others), states, past

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """The score of every token at every place."""
        return self.out(states)

    def multiplications(self, length: int) -> int:
        """Return the multiplications for reading `length` inputs, deciding at each step, and an output from each."""
        reading, deciding = count_matrix_weights(self.encoder), count_matrix_weights(self.decoder, self.decision)
        return length * (reading + self.options.repeats * deciding + self.out.weight.numel())


def _inputs(
    memory: OnlineMemory,
    embedded: Float[Tensor, "row target depth"],
    places: Int[Tensor, "row step"],
    before: Int[Tensor, "row step"],
    wrote: Bool[Tensor, "row step"],
) -> Float[Tensor, "row step all"]:
    """Return the input of each step: the source there, the token written last, and whether that was just now."""
    row = torch.arange(len(places), device=places.device)[:, None]
    known = memory.states[row // (len(places) // len(memory.last)), places]
    token = embedded[row, before.clamp(max=embedded.shape[1] - 1)]
    return torch.cat([known, token, wrote.unsqueeze(-1).to(token)], dim=-1)


def _where(busy: Bool[Tensor, " row"], after: list[Hidden], before: list[Hidden]) -> list[Hidden]:
    """The states after a step, but of rows that stand still those before it."""
    return [
        tuple(torch.where(busy[:, None], new, old) for new, old in zip(*layers, strict=True))
        for layers in zip(after, before, strict=True)
    ]
