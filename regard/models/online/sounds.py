"""Frames of sound to labels, online: each step writes the next label or waits for more sound (Luo et al. 2016).

Labels are written from left to right and closed by an end token, which also serves as the token before the first label.
Departure from the paper: several frames are stacked into one, so that there are few steps.
"""

from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor, nn

from regard.attention.masks import real_places
from regard.attention.watch import afford, is_watched, note
from regard.models.bounds import WIDEST
from regard.models.ctc.head import NOT_WEIGHTS
from regard.models.online.learning import learn_to_write
from regard.models.online.steps import Course, OnlineMemory, OnlineWriter, Standing, WritingOptions
from regard.models.parts import Embedding
from regard.models.recurrent.layers import Stack
from regard.models.transcriber import Counts, Labels, LearntLabels, Span, stack_frames


class ListenerOptions(WritingOptions):
    """A network that writes while it listens: how many frames are stacked into one, and what reads them."""

    stack: int = Field(8, ge=1, le=64, description="Frames stacked into one, to have fewer steps.")
    repeats: int = Field(1, ge=1, le=64, description="Steps per stacked frame; each step can write one label.")
    embedding: int = Field(64, ge=1, le=WIDEST, description="Width of the label embeddings.")
    width: int = Field(256, ge=1, le=WIDEST, description="Width of the states.")


class Moments(nn.Module):
    """Looks from the frames at the labels: the probability of writing the next one there, and of waiting."""

    looks_from, looks_at = "source", "labels"
    not_edited = NOT_WEIGHTS

    def forward(self, course: Course, counts: Counts, places: int) -> None:
        """Note the weights (row, frame, label + 1), waiting last; writing the end counts for no label."""
        if not is_watched(self):
            return
        most = int(counts.max())
        afford(self, (len(counts), 1, places, most + 1), course.log_probability.element_size())
        decided = course.log_probability.exp()
        writing = torch.where(course.writes, decided, 1 - decided)
        shares = F.one_hot(course.before.clamp(max=most), most + 1) * writing[..., None]
        shares[..., -1] += 1 - writing
        shares *= (course.before < counts[:, None])[..., None]
        weights = shares.new_zeros(len(counts), places, most + 1)
        weights = weights.scatter_add(1, course.places[..., None].expand_as(shares), shares)
        weights[..., -1] += weights.sum(-1) == 0  # after the last label
        note(self, self.looks_from, self.looks_at, (weights / weights.sum(-1, keepdim=True))[:, None])


class Listener(OnlineWriter):
    """Network from frames of `features` numbers to `symbols` labels, strictly from left to right."""

    NEEDS_FRAMES: ClassVar[bool] = False  # at the last frame it writes everything that remains
    SEARCHED_BY: ClassVar[Literal["frames", "labels"]] = "labels"
    options: ListenerOptions

    def __init__(self, options: ListenerOptions, features: int, symbols: int) -> None:
        super().__init__(options)
        self.end = symbols
        self.target_embedding = Embedding(symbols + 1, options.embedding, pad=-1)
        self.encoder = Stack(
            options.cell, features * options.stack, options.width, options.encoder_layers, dropout=options.dropout
        )
        self.add_decoder(symbols + 1)
        self.moments = Moments()

    @property
    def dtype(self) -> torch.dtype:
        return self.out.weight.dtype

    def hear(self, frames: Float[Tensor, "batch time feature"], lengths: Counts) -> OnlineMemory:
        """Encode each stacked frame, given those before it."""
        stacked, counts = stack_frames(frames, lengths, self.options.stack)
        states, _ = self.encoder.read(stacked, counts)
        return OnlineMemory(self.dropout(states), self.options.repeats * counts - 1)

    def learn(
        self, heard: OnlineMemory, labels: Labels, counts: Counts, carry: dict[str, Tensor] | None
    ) -> LearntLabels:
        """Return the cross-entropy over sampled paths of each row, and REINFORCE for their decisions."""
        inputs, target = self._tokens(labels, counts)
        real = real_places(counts + 1, target.shape[1])
        learnt = learn_to_write(self, heard, inputs, target, real[:, None], carry)
        return LearntLabels(learnt.loss, {"entropy": learnt.entropy, "place": learnt.place}, learnt.carry)

    def best(self, heard: OnlineMemory) -> list[list[int]]:
        """Return the most probable label at each frame where it writes, up to the end; at most one per step."""
        past = self.begin(heard)
        token = torch.full_like(heard.last, self.end)
        written, ended = list[Tensor](), torch.zeros_like(token, dtype=torch.bool)
        while not bool(ended.all()) and len(written) <= int(heard.last.max()):
            scores, past = self.step(token, heard, past)
            token = scores.argmax(-1)
            ended = ended | (token == self.end) | (len(written) > heard.last)
            written.append(torch.where(ended, self.end, token))
        rows = torch.stack(written, dim=1).tolist()
        return [[token for token in row if token != self.end] for row in rows]

    def step(
        self, tokens: Int[Tensor, " row"], heard: OnlineMemory, past: Standing
    ) -> tuple[Float[Tensor, "row token"], Standing]:
        """Return the score of every label, and of the end, after these tokens, and the new state of each row."""
        course, past = self.follow(tokens[:, None], heard, past)
        return self.logits(course.states_of(1)[:, 0]), past

    def most_tokens(self, heard: OnlineMemory) -> Counts:
        """Return the most tokens that can be written: one label per step, and the end."""
        return heard.last + 2

    def score(self, heard: OnlineMemory, labels: Labels, counts: Counts) -> Float[Tensor, " batch"]:
        """Return log p(l, b | x) for the most probable decisions b, which is less than log p(l | x) over all."""
        inputs, target = self._tokens(labels, counts)
        course, _ = self.follow(inputs, heard, self.begin(heard))
        logits = self.logits(course.states_of(target.shape[1]))
        logs = logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
        chosen = logs.gather(-1, target[..., None]).squeeze(-1)
        real = real_places(counts + 1, target.shape[1])
        return (chosen * real).sum(-1) + (course.log_probability * _walked(course, counts)).sum(-1)

    def align(self, heard: OnlineMemory, labels: Labels, counts: Counts) -> list[list[Span]]:
        """Return the frame at which each label is written; watchers see that probability, and that of waiting."""
        inputs, _ = self._tokens(labels, counts)
        course, _ = self.follow(inputs, heard, self.begin(heard))
        self.moments(course, counts, heard.states.shape[1])
        places = course.places_of(labels.shape[1]).tolist()
        rows = zip(places, counts.tolist(), strict=True)
        return [[(place, place + 1) for place in row[:count]] for row, count in rows]

    def _tokens(self, labels: Labels, counts: Counts) -> tuple[Int[Tensor, "batch token"], Int[Tensor, "batch token"]]:
        """Return the token before each token, and the tokens themselves: the labels and the end."""
        inputs = F.pad(labels, (1, 0), value=self.end)
        behind = torch.arange(inputs.shape[1], device=labels.device) >= counts[:, None]
        return inputs, F.pad(labels, (0, 1)).masked_fill(behind, self.end)

    def multiplications(self, length: int) -> int:
        """Return the multiplications for a row of `length` frames."""
        return super().multiplications(-(-length // self.options.stack))


def _walked(course: Course, counts: Counts) -> Bool[Tensor, "row step"]:
    """Return True for steps until the end is written; later, a row stands still or writes padding."""
    return course.before <= counts[:, None]
