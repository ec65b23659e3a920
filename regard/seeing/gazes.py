"""Watch a model while it reads, and return its attention between sides, ready to be drawn."""

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

PAINTING_SEED = 1  # seed of the picture: the first that `regard draw` draws


def _nothing_to_see() -> Fault:
    return Fault("This model has no attention, so there is nothing to look at.")


@runtime_checkable
class Foresees(Protocol):
    """A language model that reads a whole prompt at once, so that a watcher sees all its attention."""

    def foresee(self, batch: Prompts) -> Tensor: ...


@dataclass(frozen=True)
class Sight:
    """One input that a model read, its output, and all gazes."""

    text: str  # the input as text
    output: str  # the output as text
    outputs: Sequence[Any]  # the output as the task has it: tokens or answers
    sides: Mapping[str, Side]  # the sides of the gazes by name
    gazes: Gazes = field(default_factory=Gazes)

    @property
    def looks(self) -> list[str]:
        """Names of the attentions that this model has: its own first, then those of a translator in the usual order."""
        names = {name_look(look.looks_from, look.looks_at): None for look in (*self.gazes, *self.gazes.windows)}
        return [*(name for name in names if name not in SIDES), *(name for name in SIDES if name in names)]

    def every(self, by_word: bool = True) -> list[Seen]:
        """Return the weights of every attention; refuse a model without any."""
        if not self.looks:
            raise _nothing_to_see()
        return [self.seen(name, by_word) for name in self.looks]

    def seen(self, name: str = "cross", by_word: bool = True) -> Seen:
        """Return the weights of one attention's blocks, by words or tokens."""
        return seen_between(self.between(name), by_word)

    def between(self, name: str | None = None) -> LooksBetween:
        """Return one attention by name, or the first."""
        if not self.looks:
            raise _nothing_to_see()
        name = name or self.looks[0]
        if name not in self.looks:
            looks_from, looks_at = SIDES[name]
            others = " or ".join(f"--side {other}" for other in self.looks if other in SIDES)
            remedy = f"it can show {others}" if others else "it has only one, so omit --side"
            raise Fault(f"This model has no attention from the {looks_from} to the {looks_at}; {remedy}.")
        gazes = [gaze for gaze in self.gazes if name_look(gaze.looks_from, gaze.looks_at) == name]
        if gazes:
            return self._of_gazes(name, gazes)
        (windows,) = (window for window in self.gazes.windows if name_look(window.looks_from, window.looks_at) == name)
        centre, extent = (tensor[0].cpu().numpy() for tensor in (windows.centre, windows.extent))
        sides = self.sides[windows.looks_from], self.sides[windows.looks_at]
        return LooksBetween(name, self.text, self.output, *sides, windows=(centre, extent))

    def _of_gazes(self, name: str, gazes: Sequence[Gaze]) -> LooksBetween:
        blocks = [Block(gaze.where, _of_one_input(gaze).double().cpu().numpy()) for gaze in gazes]
        sides = self.sides[gazes[0].looks_from], self.sides[gazes[0].looks_at]
        edges = gazes[0].edges
        if edges is not None and not all(gaze.edges is not None and torch.equal(gaze.edges, edges) for gaze in gazes):
            raise Fault("The blocks of this model have different edges, which cannot be drawn together.")
        edge_array = None if edges is None else edges.cpu().numpy()
        return LooksBetween(name, self.text, self.output, *sides, blocks, edge_array)


@torch.no_grad()
def see_answer(task: Any, text: str) -> Sight:
    """Watch a task answer one input."""
    task.eval()
    batch = task.read(task.unfold(text) if isinstance(task, Unfolds) else [text])
    with watching(task.model) as gazes:
        if isinstance(task, AskedInText) and not task.asks(batch):
            if not text.strip():
                raise Fault("There is no text to look at; give a sentence.")
            answers: list[Any] = []
            task.embed(batch)
        else:
            answers = task.answers(batch)
    output = ", ".join(
        f"{answer.answer} ({percent(answer.probability)})" if answer.probabilities else answer.answer
        for answer in answers
    )
    return Sight(text, output, answers, task.sides(batch, answers), gazes)


@torch.no_grad()
def see_sound(task: Any, sound: str | Path | bytes) -> Sight:
    """Watch a task transcribe one sound."""
    task.eval()
    batch = task.read([sound])
    with watching(task.model) as gazes:
        transcripts = task.transcripts(batch)
    name = "The sound" if isinstance(sound, bytes) else Path(sound).name
    return Sight(name, transcripts[0].text, transcripts, task.sides(batch, transcripts), gazes)


@torch.no_grad()
def see_speech(task: Any, text: str, speaker: str | None = None) -> Sight:
    """Watch a task speak one text with a speaker, by default the first."""
    task.eval()
    try:
        batch = task.read([text], speaker)
    except TextFault as fault:
        raise fault.without_number() from None
    with watching(task.model) as gazes:
        (spoken,) = task.speak(batch)
    summary = f"{spoken.seconds:.2f} s, said by {spoken.speaker}"
    return Sight(text, summary, [spoken], task.sides(batch, [spoken]), gazes)


@torch.no_grad()
def see_caption(task: Any, picture: Any) -> Sight:
    """Search for the caption of one picture, and watch the task write it."""
    task.eval()
    batch = task.read([picture])
    return see_written_caption(task, picture, search_caption(task, batch))


def search_caption(task: Any, batch: Any) -> Sequence[int]:
    """Return the tokens of the best caption of the one picture of a batch."""
    ((best, *_),) = search_in_parts(task, batch, task.decoding, Demands.without(task.unwritten))
    return best.tokens


@torch.no_grad()
def see_written_caption(task: Any, picture: Any, written: Sequence[int]) -> Sight:
    """Watch a task write exactly these tokens for one picture."""
    task.eval()
    batch = task.read([picture])
    with watching(task.model) as gazes:
        task.token_scores(batch.writing([written]))
    name = Path(picture).name if isinstance(picture, str | Path) else "The picture"
    return Sight(name, task.write(written), [written], task.sides(batch, [written]), gazes)


@torch.no_grad()
def see_redrawing(task: Any, picture: str | Path) -> Sight:
    """Watch a task redraw one picture."""
    task.eval()
    batch = task.read([picture])
    with watching(task.model) as gazes:
        (nats,) = task.redraw(batch)
    return Sight(Path(picture).name, f"{nats:.1f} nats", [nats], task.sides(batch, [nats]), gazes)


@torch.no_grad()
def see_painting(task: Any, text: str) -> Sight:
    """Watch a task paint a picture for one text."""
    task.eval()
    try:
        batch = task.read([text])
    except TextFault as fault:
        raise fault.without_number() from None
    with watching(task.model) as gazes:
        pictures = task.paint(batch, torch.Generator().manual_seed(PAINTING_SEED), 1.0)
    return Sight(text, "", pictures, task.sides(batch, pictures), gazes)


@torch.no_grad()
def see_prompt(task: Any, prompt: str) -> Sight:
    """Watch a language model read a prompt; the output is the most probable next token."""
    if not prompt.strip():
        raise Fault("There is no text to look at; give a prompt.")
    batch = task.read([prompt])
    with watching(task.model) as gazes:
        scores = task.foresee(batch)[0]
    token = int(scores.argmax())
    output = f"{task.tokeniser.pieces([token])[0]} ({percent(exp(scores[token]))})"
    return Sight(prompt, output, [token], task.sides(batch, [token]), gazes)


def see_input(task: Any, item: Any, speaker: str | None = None) -> Sight:
    """Watch a task read one input of any kind: a text to speak, a prompt, a sound, a picture, …"""
    if isinstance(task, Speaks):
        return see_speech(task, item, speaker)
    refuse_speaker(speaker)
    if isinstance(task, Captions):
        return see_caption(task, item)
    if isinstance(task, Redraws):
        return see_redrawing(task, item)
    if isinstance(task, Paints):
        return see_painting(task, item)
    if isinstance(task, Foresees):
        return see_prompt(task, item)
    return see_sound(task, item) if isinstance(task, Transcribes) else see_answer(task, item)


def refuse_speaker(speaker: str | None) -> None:
    """Refuse a speaker for a model that does not speak."""
    if speaker is not None:
        raise Fault(f"The speaker '{speaker}' is for models that speak; this one does not.")


def _of_one_input(gaze: Gaze) -> Tensor:
    """Return the weights (head, query, key) or (head, edge); if one input asks several questions, the rows of all."""
    return gaze.weights[0] if gaze.edges is not None else gaze.weights.transpose(0, 1).flatten(1, 2)
