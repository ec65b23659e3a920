"""From a model and what it reads to looks between sides, which can be drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from regard.attention.watch import SIDES, Gaze, Gazes, name_look, watching
from regard.base.faults import Fault, TextFault
from regard.decoding.beam import search_in_parts
from regard.decoding.output import Demands
from regard.protocols import AskedInText, Captions, Paints, Redraws, Speaks, Transcribes, Unfolds
from regard.tasks.language.batches import Prompts
from regard.viewing.looks import LooksBetween, seen_between
from regard.viewing.seen import Block, Seen
from regard.viewing.sides import Side
from regard.viewing.written import percent

PAINTING_SEED = 1  # of the picture that is looked at: the first that `regard draw` draws
_NOTHING = "This model has no attention, so there is nothing to look at."


@runtime_checkable
class Foresees(Protocol):
    """A language model that reads a single prompt at once, so that whoever watches sees all its looks."""

    def foresee(self, batch: Prompts) -> Tensor: ...


@dataclass(frozen=True)
class Sight:
    """One input that a model read, what came of it, and every gaze on the way."""

    text: str  # the input, as people write it
    output: str  # and what came of it, as they read it
    outputs: Sequence[Any]  # the same as the task has it: tokens that were written, or answers
    sides: Mapping[str, Side]  # what the gazes look between, by the names that they have for it
    gazes: Gazes = field(default_factory=Gazes)

    @property
    def looks(self) -> list[str]:
        """The attentions that this model has: from an answer to what it read first, those of a translator as usual."""
        found = {name_look(each.looks_from, each.looks_at): None for each in (*self.gazes, *self.gazes.windows)}
        return [*(name for name in found if name not in SIDES), *(name for name in SIDES if name in found)]

    def every(self, by_word: bool = True) -> list[Seen]:
        """Return the looks of every attention; a model that can be looked at has at least one."""
        if not self.looks:
            raise Fault(_NOTHING)
        return [self.seen(name, by_word) for name in self.looks]

    def seen(self, name: str = "cross", by_word: bool = True) -> Seen:
        """Return the looks of one attention's blocks, between words or tokens."""
        return seen_between(self.between(name), by_word)

    def between(self, name: str | None = None) -> LooksBetween:
        """Return the looks of one attention by name, or of the first."""
        if not self.looks:
            raise Fault(_NOTHING)
        name = name or self.looks[0]
        if name not in self.looks:
            looks_from, looks_at = SIDES[name]
            others = " or ".join(f"--side {other}" for other in self.looks if other in SIDES)
            remedy = f"it can show {others}" if others else "it has one alone, so omit --side"
            raise Fault(f"This model has no attention from the {looks_from} to the {looks_at}; {remedy}.")
        gazes = [gaze for gaze in self.gazes if name_look(gaze.looks_from, gaze.looks_at) == name]
        if gazes:
            return self._of_gazes(name, gazes)
        (windows,) = (each for each in self.gazes.windows if name_look(each.looks_from, each.looks_at) == name)
        centre, extent = (tensor[0].cpu().numpy() for tensor in (windows.centre, windows.extent))
        sides = self.sides[windows.looks_from], self.sides[windows.looks_at]
        return LooksBetween(name, self.text, self.output, *sides, windows=(centre, extent))

    def _of_gazes(self, name: str, gazes: Sequence[Gaze]) -> LooksBetween:
        blocks = [Block(gaze.where, _of_one_input(gaze).double().cpu().numpy()) for gaze in gazes]
        sides = self.sides[gazes[0].looks_from], self.sides[gazes[0].looks_at]
        edges = gazes[0].edges
        if edges is not None and not all(gaze.edges is not None and torch.equal(gaze.edges, edges) for gaze in gazes):
            raise Fault("The blocks of this model look along different edges, which cannot be drawn together.")
        looked_along = None if edges is None else edges.cpu().numpy()
        return LooksBetween(name, self.text, self.output, *sides, blocks, looked_along)


@torch.no_grad()
def see_answer(task: Any, given: str) -> Sight:
    """Let a task that answers read one input, as people write it, and watch it."""
    task.eval()
    batch = task.read(task.unfold(given) if isinstance(task, Unfolds) else [given])
    with watching(task.model) as gazes:
        if isinstance(task, AskedInText) and not task.asks(batch):
            if not given.strip():
                raise Fault("There is no text to look at; give a sentence.")
            answers: list[Any] = []
            task.embed(batch)
        else:
            answers = task.answers(batch)
    output = ", ".join(
        f"{answer.answer} ({percent(answer.probability)})" if answer.probabilities else answer.answer
        for answer in answers
    )
    return Sight(given, output, answers, task.sides(batch, answers), gazes)


@torch.no_grad()
def see_sound(task: Any, given: str | Path | bytes) -> Sight:
    """Let a task that hears write down one sound, and watch it."""
    task.eval()
    batch = task.read([given])
    with watching(task.model) as gazes:
        transcripts = task.transcripts(batch)
    name = "The sound" if isinstance(given, bytes) else Path(given).name
    return Sight(name, transcripts[0].text, transcripts, task.sides(batch, transcripts), gazes)


@torch.no_grad()
def see_speech(task: Any, given: str, speaker: str | None = None) -> Sight:
    """Let a task that speaks say one text by one of its speakers, the first where none is named, and watch it."""
    task.eval()
    try:
        batch = task.read([given], speaker)
    except TextFault as fault:
        raise fault.without_number() from None
    with watching(task.model) as gazes:
        (spoken,) = task.speak(batch)
    said = f"{spoken.seconds:.2f} s, said by {spoken.speaker}"
    return Sight(given, said, [spoken], task.sides(batch, [spoken]), gazes)


@torch.no_grad()
def see_caption(task: Any, given: Any) -> Sight:
    """Let a task write the caption of one picture, and watch it write that again."""
    task.eval()
    batch = task.read([given])
    ((best, *_),) = search_in_parts(task, batch, task.decoding, Demands(forbidden=[[task.tokeniser.unknown]]))
    tokens = [best.tokens]
    with watching(task.model) as gazes:
        task.token_scores(batch.writing(tokens))
    name = Path(given).name if isinstance(given, str | Path) else "The picture"
    return Sight(name, task.write(tokens[0]), tokens, task.sides(batch, tokens), gazes)


@torch.no_grad()
def see_redrawing(task: Any, given: str | Path) -> Sight:
    """Let a task that draws draw one picture again, and watch it."""
    task.eval()
    batch = task.read([given])
    with watching(task.model) as gazes:
        (nats,) = task.redraw(batch)
    return Sight(Path(given).name, f"{nats:.1f} nats", [nats], task.sides(batch, [nats]), gazes)


@torch.no_grad()
def see_painting(task: Any, given: str) -> Sight:
    """Let a task that paints what a text asks for paint one, and watch it."""
    task.eval()
    try:
        batch = task.read([given])
    except TextFault as fault:
        raise fault.without_number() from None
    with watching(task.model) as gazes:
        painted = task.paint(batch, torch.Generator().manual_seed(PAINTING_SEED), 1.0)
    return Sight(given, "", painted, task.sides(batch, painted), gazes)


@torch.no_grad()
def see_prompt(task: Any, prompt: str) -> Sight:
    """Let a language model read a prompt, and watch it; what comes of it is the token that it finds most probable."""
    if not prompt.strip():
        raise Fault("There is no text to look at; give a prompt.")
    batch = task.read([prompt])
    with watching(task.model) as gazes:
        scores = task.foresee(batch)[0]
    token = int(scores.argmax())
    output = f"{task.tokeniser.pieces([token])[0]} ({percent(exp(scores[token]))})"
    return Sight(prompt, output, [token], task.sides(batch, [token]), gazes)


def see_input(task: Any, given: Any, speaker: str | None = None) -> Sight:
    """Let a task read one input as people have it, and watch it: text to speak, a prompt, a sound, a picture, …"""
    if isinstance(task, Speaks):
        return see_speech(task, given, speaker)
    refuse_speaker(speaker)
    if isinstance(task, Captions):
        return see_caption(task, given)
    if isinstance(task, Redraws):
        return see_redrawing(task, given)
    if isinstance(task, Paints):
        return see_painting(task, given)
    if isinstance(task, Foresees):
        return see_prompt(task, given)
    return see_sound(task, given) if isinstance(task, Transcribes) else see_answer(task, given)


def refuse_speaker(speaker: str | None) -> None:
    """Refuse a speaker where nobody speaks."""
    if speaker is not None:
        raise Fault(f"The speaker '{speaker}' is for models that speak; this one does not.")


def _of_one_input(gaze: Gaze) -> Tensor:
    """The weights (head, query, key) or (head, edge); where one input asks for several things, the rows of all."""
    return gaze.weights[0] if gaze.edges is not None else gaze.weights.transpose(0, 1).flatten(1, 2)
