"""From a model and what it reads to looks between sides, which can be drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from regard.attention.watch import SIDES, Gazes, name_look, watching
from regard.base.faults import Fault
from regard.model import Model
from regard.viewing.seen import Block, Seen
from regard.viewing.sides import Side, Words

_NOTHING = "This model has no attention, so there is nothing to look at; it can translate and be scored."


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
        """The attentions that this model has, those of a translator in their usual order."""
        found = {name_look(gaze.looks_from, gaze.looks_at): None for gaze in self.gazes}
        return [*(name for name in SIDES if name in found), *(name for name in found if name not in SIDES)]

    def every(self, by_word: bool = True) -> list[Seen]:
        """What was seen by every attention there is; a model has one at least, or cannot be looked at."""
        if not self.looks:
            raise Fault(_NOTHING)
        return [self.seen(name, by_word) for name in self.looks]

    def seen(self, name: str = "cross", by_word: bool = True) -> Seen:
        """What the blocks of one attention looked at, between words or between tokens."""
        chosen = [gaze for gaze in self.gazes if name_look(gaze.looks_from, gaze.looks_at) == name]
        if not chosen:
            raise Fault(self._lacking(name))
        looks_from, looks_at = chosen[0].looks_from, chosen[0].looks_at
        rows, of_row = self._axis(looks_from, looks_at, by_word)
        columns, of_column = self._axis(looks_at, looks_from, by_word)
        blocks = [
            Block(gaze.where, _grouped(gaze.weights[0].double().cpu().numpy(), of_row, of_column)) for gaze in chosen
        ]
        return Seen(name, self.output, rows, columns, blocks)

    def _axis(self, name: str, other: str, by_word: bool) -> tuple[list[str], list[int]]:
        """What stands on an axis, and for each place of the attention the one of the axis that it belongs to."""
        side = self.sides[name]
        if not isinstance(side, Words):
            raise TypeError(f"the side '{name}' is not one of words")
        if name == other and side.as_read:
            side = side.as_read
        return (list(side.words), list(side.places)) if by_word else (list(side.tokens), list(range(len(side.tokens))))

    def _lacking(self, name: str) -> str:
        if not self.looks:
            return _NOTHING
        looks_from, looks_at = SIDES[name]
        others = " or ".join(f"--side {other}" for other in self.looks)
        return f"This model has no attention from the {looks_from} to the {looks_at}; it can show {others}."


def see(model: Model, text: str, target: str | None = None) -> Sight:
    """Let the model read `text` and write `target`, or what it finds best, and watch it."""
    if not (text := text.strip()):
        raise Fault("There is no text to look at; give a sentence with --text.")
    model.task.check_length(text, 0)
    written = model.search_tokens(text) if target is None else model.task.target.encode(target)
    longest = model.task.model.options.longest
    if len(written) + 1 > longest:
        raise Fault(f"The target has {len(written) + 1} tokens, but the model takes {longest} at most; shorten it.")
    return see_tokens(model, text, written)


def see_tokens(model: Model, text: str, written: Sequence[int]) -> Sight:
    """Let the model read `text` and write just these tokens, and watch it."""
    task = model.task
    with watching(model) as gazes:
        model.force([text], [written])
    return Sight(text, task.write(written), [written], task.sides(task.read([text]), [written]), gazes)


def look(model: Model, text: str, target: str | None = None, side: str = "cross", by_word: bool = True) -> Seen:
    """What the model looked at on one side while it read `text` and wrote `target`, or what it finds best."""
    return see(model, text, target).seen(side, by_word)


def _grouped(weights: np.ndarray, of_row: list[int], of_column: list[int]) -> np.ndarray:
    """Weights between words: summed over the tokens looked at, averaged over the tokens that look."""
    rows, columns = max(of_row) + 1, max(of_column) + 1
    to_column = np.zeros((len(of_column), columns))
    to_column[np.arange(len(of_column)), of_column] = 1
    from_row = np.zeros((rows, len(of_row)))
    from_row[of_row, np.arange(len(of_row))] = 1
    from_row /= from_row.sum(axis=1, keepdims=True)
    return from_row @ weights @ to_column
