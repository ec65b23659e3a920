"""Drafts for exact speculation: n-grams of what was read and written, a copy of the source, and other models."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from regard.protocols import State, Stepwise

LONGEST = 4  # tokens of the longest n-gram that a draft looks up
LIKELY = 0.4  # a model stops proposing at the first token that it gives less probability


class Lookup:
    """Proposes what followed the last tokens where they occurred before (Saxena 2023, prompt lookup decoding).

    It looks in the tokens that were `read` and in those written since, for the longest n-gram first and for its last
    occurrence.
    """

    def __init__(self, read: Sequence[int]) -> None:
        self._text = list(read)
        self._read = len(self._text)
        self._places: dict[tuple[int, ...], int] = {}  # where the text continues after the last occurrence of an n-gram
        self._counted = 0

    def propose(self, written: Sequence[int], most: int) -> Sequence[int]:
        self._text += written[len(self._text) - self._read :]
        for size in range(min(LONGEST, len(self._text)), 0, -1):
            if place := self._places_of(tuple(self._text[-size:])):
                return self._continue(place, most)
        return ()

    def _places_of(self, last: tuple[int, ...]) -> int | None:
        """Return where the text continues after an earlier occurrence of its last tokens."""
        for end in range(self._counted + 1, len(self._text)):
            for size in range(1, min(LONGEST, end) + 1):
                self._places[tuple(self._text[end - size : end])] = end
        self._counted = max(self._counted, len(self._text) - 1)
        return self._places.get(last)

    def _continue(self, place: int, most: int) -> list[int]:
        """Return what follows a place; a text that repeats itself is continued beyond its end."""
        text = list(self._text)
        for number in range(place, place + most):
            text.append(text[number])
        return text[len(self._text) :]


class Copy:
    """Proposes the rest of the source, after the place to which the last tokens lead."""

    def __init__(self, source: Sequence[int]) -> None:
        self._source = list(source)
        self._next = 0  # the place in the source that comes next
        self._seen = 0  # tokens written when it was found

    def propose(self, written: Sequence[int], most: int) -> Sequence[int]:
        for number in range(self._seen, len(written)):
            self._follow(written, number)
        self._seen = len(written)
        return self._source[self._next : self._next + most]

    def _follow(self, written: Sequence[int], number: int) -> None:
        """Move on by the token of this number: to the nearest place after the same tokens, else by one place."""
        for size in range(min(LONGEST, number + 1), 0, -1):
            last = list(written[number + 1 - size : number + 1])
            starts = range(len(self._source) - size + 1)
            ends = [start + size for start in starts if self._source[start : start + size] == last]
            if ends:
                self._next = min(ends, key=lambda end: abs(end - self._next - 1))
                return
        self._next += 1


class Student:
    """Proposes what a smaller model with the same tokens would write, as long as it is sure of it.

    Any stepwise model will do, because the states after all tokens are kept: to forget a token is to drop its state.
    `choose` makes its choice from log-probabilities (token), at this number of written tokens.
    """

    def __init__(self, task: Stepwise, batch: Any, device: torch.device, choose: "Choose | None" = None) -> None:
        self._task, self._device, self._choose = task, device, choose or _best
        self._tokens: list[int] = []  # those read after the begin token
        with torch.no_grad():
            self._states: list[State] = [task.start(batch)]
        self._after: list[Tensor] = []  # log-probabilities after the begin token and after each token

    @torch.no_grad()
    def propose(self, written: Sequence[int], most: int) -> Sequence[int]:
        same = _common(self._tokens, written)
        del self._tokens[same:], self._after[same + 1 :], self._states[same + 2 :]
        if not self._after:
            self._read(self._task.begin)
        for token in written[same:]:
            self._tokens.append(token)
            self._read(token)
        proposal: list[int] = []
        while len(proposal) < most:
            token, probability = self._choose(self._after[-1], len(written) + len(proposal))
            if token == self._task.end or probability < LIKELY:
                break
            proposal.append(token)
            if len(proposal) < most:
                self._tokens.append(token)
                self._read(token)
        return proposal

    def _read(self, token: int) -> None:
        log_probabilities, state = self._task.step(torch.tensor([token], device=self._device), self._states[-1])
        self._states.append(state)
        self._after.append(log_probabilities[0])


@runtime_checkable
class Foretells(Protocol):
    """Gives a probable next token of a text and its probability without a step; None if it knows none."""

    end: int

    def best_after(self, tokens: Sequence[int]) -> tuple[int, float] | None: ...


class Counted:
    """Proposes what n-grams of other text continue with, as long as it is probable; `read` comes before the output."""

    def __init__(self, model: Foretells, read: Sequence[int]) -> None:
        self._model, self._read = model, list(read)

    def propose(self, written: Sequence[int], most: int) -> Sequence[int]:
        text = [*self._read, *written]
        before = len(text)
        while len(text) - before < most:
            found = self._model.best_after(text)
            if found is None or found[1] < LIKELY or found[0] == self._model.end:
                break
            text.append(found[0])
        return text[before:]


def model_draft(
    task: Any, batch: Any, read: Sequence[int], device: torch.device, choose: "Choose | None" = None
) -> "Counted | Student":
    """Return the draft of a model: `batch` is what it reads, and `read` are the tokens before the output."""
    return Counted(task, read) if isinstance(task, Foretells) else Student(task, batch, device, choose)


Choose = Callable[[Tensor, int], tuple[int, float]]  # from log-probabilities and a time to a token and its probability


def _best(log_probabilities: Tensor, time: int) -> tuple[int, float]:
    value, token = log_probabilities.max(dim=0)
    return int(token), float(value.exp())


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """Return how many tokens two texts have in common at their beginning."""
    number = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        number += 1
    return number
