"""Writing online (Luo et al. 2016): read the input step by step, and at each step decide to write or to wait.

At step i a recurrent net reads the state of a causal encoder, the last written token, and whether it was written just
before. Its state h_i decides, b_i ~ Bernoulli(σ(v · h_i + c)), and if b_i = 1 it also writes the next token from
softmax(W h_i). Either way it moves on to the next step, so the alignment is monotonic by construction, and the cost of
a step does not depend on the length of the input. Decisions are sampled in training, and learn by REINFORCE; in use it
writes where b_i is more probable than not.

Departures from the paper ("Learning Online Alignments with Continuous Rewards Policy Gradient"): an input lasts for
`repeats` steps, because a letter may stand for two sounds; the last step writes everything that remains, so that every
output has a probability; a token can cost more the later it is written, or else waiting for the end would be best; and
rewards are compared with those of other sampled paths, not with a learnt baseline.
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

    cell: CellName = Field(default="lstm", description="Recurrent cell of all layers.")
    encoder_layers: int = Field(
        default=1, ge=1, le=MOST_LAYERS, description="Recurrent layers that read the input only, forward."
    )
    decoder_layers: int = Field(
        default=1, ge=1, le=MOST_LAYERS, description="Recurrent layers above them that also read the written tokens."
    )
    embedding: int = Field(default=256, ge=1, le=WIDEST, description="Width of the token embeddings.")
    width: int = Field(default=512, ge=1, le=WIDEST, description="Width of the states.")
    repeats: int = Field(default=2, ge=1, le=64, description="Steps per input token; each step can write one token.")
    delay: float = Field(
        default=0.0,
        ge=0,
        description="Cost of a token for each input token read before it is written, in nats; without it a model may "
        "as well wait for the end.",
    )
    first_chance: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="Initial probability of writing at a step, and the value to which the entropy term draws decisions "
        "back; low if outputs are few. By default about one half.",
    )
    delay_rises: int = Field(
        default=0, ge=0, description="Batches over which `delay` rises linearly from zero; 0: full from the start."
    )
    entropy_falls: int = Field(
        default=0, ge=0, description="Batches over which the entropy weight falls linearly to zero; 0: constant."
    )
    dropout: float = Field(default=0.2, ge=0, lt=1, description="Dropout on embeddings, in the encoder and on outputs.")

    @model_validator(mode="after")
    def _check(self) -> "WritingOptions":
        self.check_baseline()
        return self


class OnlineMemory(NamedTuple):
    """The encoder's state at each input token, given those before it, and the last step of each input."""

    states: Float[Tensor, "batch source width"]
    last: Int[Tensor, " batch"]


class Standing(NamedTuple):
    """State of each row between two tokens that it writes."""

    hidden: list[Hidden]
    step: Int[Tensor, " row"]  # the step to read next
    wrote: Bool[Tensor, " row"]  # True if the previous step wrote
    manner: Int[Tensor, "row told"]  # whether decisions are sampled in training, if that is set


class Course(NamedTuple):
    """All steps taken to write some tokens; after its last token a row stands still.

    Where a row is forced to write there is no decision: its log-probability and entropy are zero.
    """

    states: Float[Tensor, "row step width"]
    writes: Bool[Tensor, "row step"]
    places: Int[Tensor, "row step"]  # of the input tokens
    log_probability: Float[Tensor, "row step"]  # of the decision
    entropy: Float[Tensor, "row step"]  # of the distribution it was sampled from

    @property
    def before(self) -> Int[Tensor, "row step"]:
        """Number of tokens written before each step."""
        return self.writes.long().cumsum(1) - self.writes.long()

    def steps_of(self, tokens: int) -> Int[Tensor, "row token"]:
        """Return the step at which each token is written."""
        rows, steps = self.writes.shape
        order = self.before.masked_fill(~self.writes, tokens)  # an extra column takes steps that write nothing
        numbers = torch.arange(steps, device=order.device).expand(rows, -1)
        return numbers.new_zeros(rows, tokens + 1).scatter(1, order, numbers)[:, :tokens]

    def places_of(self, tokens: int) -> Int[Tensor, "row token"]:
        """Return the input token at which each token is written."""
        return self.places.gather(1, self.steps_of(tokens))

    def states_of(self, tokens: int) -> Float[Tensor, "row token width"]:
        """Return the states from which the tokens are written."""
        steps = self.steps_of(tokens).unsqueeze(-1)
        return self.states.gather(1, steps.expand(-1, -1, self.states.shape[-1]))


class Route(NamedTuple):
    """Decisions at each step, and everything the steps depend on."""

    writes: Bool[Tensor, "row step"]
    places: Int[Tensor, "row step"]  # of the input tokens
    before: Int[Tensor, "row step"]  # number of tokens written before
    wrote: Bool[Tensor, "row step"]  # True if the previous step wrote
    free: Bool[Tensor, "row step"]  # True if there was a decision to make


class Decision(nn.Module):
    """σ(v · h + c), the probability of writing; can be watched like an attention, with one place for each token."""

    looks_from, looks_at = "target", "source"
    not_edited = (
        "An online model decides where to write, and its gaze shows the decisions. They mix nothing, so they cannot be "
        "edited; edit the output or the state of a layer."
    )

    def __init__(self, width: int, first_chance: float | None = None) -> None:
        super().__init__()
        self.gate = nn.Linear(width, 1)
        if first_chance is not None:
            nn.init.constant_(self.gate.bias, math.log(first_chance / (1 - first_chance)))

    def forward(self, state: Float[Tensor, "*place width"]) -> Float[Tensor, "*place"]:
        return self.gate(state).squeeze(-1)

    def decide(self, logit: Float[Tensor, " row"], manner: Int[Tensor, "row told"]) -> Bool[Tensor, " row"]:
        """Sample in training, unless `manner` asks for the best; otherwise take the more probable decision."""
        best = logit > 0
        if not self.training:
            return best
        sampled = torch.rand_like(logit) < logit.sigmoid()
        return sampled if not manner.shape[1] else torch.where(manner[:, 0] == Manner.BEST, best, sampled)

    def note(self, places: Int[Tensor, "row token"], source: int) -> None:
        """Note where in the source each token was written."""
        note(self, self.looks_from, self.looks_at, F.one_hot(places, source)[:, None].to(self.gate.weight.dtype))


class OnlineWriter(nn.Module):
    """Writes tokens from left to right while it moves along the encoder's states, whatever their input."""

    target_embedding: Embedding
    encoder: Stack

    def __init__(self, options: WritingOptions) -> None:
        super().__init__()
        self.options = options

    def add_decoder(self, tokens: int) -> None:
        """Add the layers that decide and write; embedding and encoder must exist already."""
        options, width = self.options, self.options.width
        # No dropout between these layers: decisions and their gradients must come from the same states.
        self.decoder = Stack(options.cell, width + options.embedding + 1, width, options.decoder_layers)
        self.decision = Decision(width, options.first_chance)
        self.dropout = nn.Dropout(options.dropout)
        self.out = nn.Linear(width, tokens, bias=False)
        nn.init.normal_(self.out.weight, std=width**-0.5)

    def begin(self, memory: OnlineMemory, paths: int = 1) -> Standing:
        """Return the state before the first step, all zeros; each input may have several rows."""
        rows = len(memory.last) * paths
        nothing = memory.states.new_zeros(rows, self.options.width)
        parts = 2 if self.options.cell == "lstm" else 1
        hidden: list[Hidden] = [(nothing,) * parts for _ in range(self.options.decoder_layers)]
        start = torch.zeros(rows, dtype=torch.long, device=nothing.device)
        return Standing(hidden, start, start.bool(), start[:, None][:, :0])

    def write(
        self, target: Int[Tensor, "row target"], memory: OnlineMemory, past: Standing
    ) -> tuple[Float[Tensor, "row target width"], Standing]:
        """Return the states that write the tokens after those of `target`, and the new state of each row."""
        course, past = self.follow(target, memory, past)
        tokens = target.shape[1]
        if is_watched():
            self.decision.note(course.places_of(tokens), memory.states.shape[1])
        return course.states_of(tokens), past

    def follow(
        self, target: Int[Tensor, "row target"], memory: OnlineMemory, past: Standing
    ) -> tuple[Course, Standing]:
        """Run until each row has written as many tokens as `target` has; `target` holds the token before each.

        Decisions are made step by step, without a gradient. Once they are known, so are the inputs of all steps; if a
        gradient is needed, all steps are computed again at once, which is several times faster.
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
        """−p log p − (1−p) log (1−p); with a first chance q, log 2 − KL(p ‖ q), which is the same for q = ½.

        Where few steps write, the plain entropy would draw all decisions towards writing at every second step.
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
        """Return the decisions of each row, the states along the way, and its new state."""
        rows, tokens, _ = embedded.shape
        last = memory.last.repeat_interleave(rows // len(memory.last))
        before, steps = torch.zeros_like(past.step), list[tuple[Tensor, ...]]()
        while not steps or bool((before < tokens).any()):
            busy, forced, place = before < tokens, past.step >= last, past.step // self.options.repeats
            inputs = _inputs(memory, embedded, place[:, None], before[:, None], past.wrote[:, None])
            state, hidden = self.decoder.step(inputs[:, 0], past.hidden)
            writes = forced | self.decision.decide(self.decision(state), past.manner)
            steps.append((state, busy & writes, place, before, past.wrote, busy & ~forced))
            before = before + (busy & writes)
            past = Standing(
                _where(busy, hidden, past.hidden),
                past.step + (busy & ~forced),
                torch.where(busy, writes, past.wrote),
                past.manner,
            )
        states, *others = (torch.stack(column, dim=1) for column in zip(*steps, strict=True))
        return Route(*others), states, past

    def logits(self, states: Float[Tensor, "*place width"]) -> Float[Tensor, "*place token"]:
        """Return the score of every token at every place."""
        return self.out(states)

    def multiplications(self, length: int) -> int:
        """Return the multiplications for `length` inputs: reading, deciding at each step, and one output each."""
        reading, deciding = count_matrix_weights(self.encoder), count_matrix_weights(self.decoder, self.decision)
        return length * (reading + self.options.repeats * deciding + self.out.weight.numel())


def _inputs(
    memory: OnlineMemory,
    embedded: Float[Tensor, "row target depth"],
    places: Int[Tensor, "row step"],
    before: Int[Tensor, "row step"],
    wrote: Bool[Tensor, "row step"],
) -> Float[Tensor, "row step all"]:
    """Return the input of each step: the source there, the last written token, and whether it was just written."""
    row = torch.arange(len(places), device=places.device)[:, None]
    encoded = memory.states[row // (len(places) // len(memory.last)), places]
    token = embedded[row, before.clamp(max=embedded.shape[1] - 1)]
    return torch.cat([encoded, token, wrote.unsqueeze(-1).to(token)], dim=-1)


def _where(busy: Bool[Tensor, " row"], after: list[Hidden], before: list[Hidden]) -> list[Hidden]:
    """Return the states after a step, or before it for rows that stand still."""
    return [
        tuple(torch.where(busy[:, None], new, old) for new, old in zip(*layers, strict=True))
        for layers in zip(after, before, strict=True)
    ]
