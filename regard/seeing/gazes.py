"""From a model and a sentence to matrices with words on both axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from regard.attention.watch import SIDES, Gaze, watching
from regard.base.faults import Fault
from regard.data.tokenisers.labels import Labels, is_spelled_word, labels
from regard.model import Model
from regard.viewing.seen import Block, Seen

_NOTHING = "This model has no attention, so there is nothing to look at; it can translate and be scored."


@dataclass(frozen=True)
class Sight:
    """One text read, another written, and every gaze on the way, in tokens."""

    model: Model
    text: str
    written: Sequence[int]
    gazes: Sequence[Gaze]

    @cached_property
    def output(self) -> str:
        return self.model.task.write(self.written)

    @property
    def sides(self) -> list[str]:
        """The sides that this model has attention on."""
        return [side for side in SIDES if self._on(side)]

    def every(self, by_word: bool = True) -> list[Seen]:
        """What was seen on every side there is; a model has one side at least, or cannot be looked at."""
        if not self.sides:
            raise Fault(_NOTHING)
        return [self.seen(side, by_word) for side in self.sides]

    def seen(self, side: str = "cross", by_word: bool = True) -> Seen:
        """What the blocks of one side looked at, between words or between tokens."""
        chosen = self._on(side)
        if not chosen:
            raise Fault(self._lacking(side))
        looks_from, looks_at = SIDES[side]
        rows, of_row = self._axis(looks_from, side, by_word)
        columns, of_column = self._axis(looks_at, side, by_word)
        blocks = [
            Block(gaze.where, _grouped(gaze.weights[0].double().cpu().numpy(), of_row, of_column)) for gaze in chosen
        ]
        return Seen(side, self.output, rows, columns, blocks)

    def _on(self, side: str) -> list[Gaze]:
        return [gaze for gaze in self.gazes if (gaze.looks_from, gaze.looks_at) == SIDES[side]]

    def _axis(self, name: str, side: str, by_word: bool) -> Labels:
        """What stands on an axis: the tokens that are looked at, or from which the next token is sought."""
        task = self.model.task
        kinds = [options.kind for options in self.model.recipe.data.tokeniser.by_side()]
        kind, text = (kinds[0], self.text) if name == "source" else (kinds[-1], self.output)
        by_word = by_word and not is_spelled_word(text, kind)
        if name == "source":
            return labels(task.source, [*task.source.encode(self.text), task.source.end], by_word)
        if side == "decoder":  # a place is named by the token that it reads, not by the one that it writes
            return labels(task.target, [task.begin, *self.written], by_word)
        return labels(task.target, [*self.written, task.end], by_word)

    def _lacking(self, side: str) -> str:
        if not self.sides:
            return _NOTHING
        looks_from, looks_at = SIDES[side]
        others = " or ".join(f"--side {other}" for other in self.sides)
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
    with watching(model) as gazes:
        model.force([text], [written])
    return Sight(model, text, written, gazes)


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
