"""Reporting a text token by token while it is written; imports no torch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from regard.protocols import State, Stepwise

BROKEN = "\N{REPLACEMENT CHARACTER}"  # at the end of a text whose last letter is incomplete
_LOOKED_BACK = 512  # tokens of a line that decide how the next one is written


@dataclass(frozen=True)
class WrittenToken:
    """A written token: its name, what it adds to the text, and its log-probability.

    A letter may take several tokens; then only the last of them adds text.
    """

    token: str
    text: str
    score: float


class Overheard:
    """A task whose search writes one row; calls `heard` with each token once the search asks for the next one."""

    def __init__(self, task: "Stepwise", heard: Callable[[int, float], None]) -> None:
        self._task, self._heard = task, heard
        self._last: Tensor | None = None  # the scores for the place of the next token
        self.begin, self.end = task.begin, task.end

    def start(self, batch: Any) -> "State":
        return self._task.start(batch)

    def step(self, tokens: "Tensor", state: "State") -> "tuple[Tensor, State]":
        if self._last is not None:
            token = int(tokens)
            self._heard(token, float(self._last[0, token]))
        self._last, state = self._task.step(tokens, state)
        return self._last, state


def last_line(tokens: Sequence[int], end: int) -> list[int]:
    """Return the last tokens of the last line, which decide how the next token is written, in constant time.

    Only spaces around quotation marks could depend on more: on whether a quotation was opened before.
    """
    recent = list(tokens[-_LOOKED_BACK:])
    return recent[len(recent) - recent[::-1].index(end) :] if end in recent else recent


class Teller:
    """Reports the tokens written after a prompt: each as it is heard, and at the end all that are left."""

    def __init__(self, task: Any, read: Sequence[int], tell: Callable[[WrittenToken], None]) -> None:
        self._task, self._tell = task, tell
        self._begin_at(last_line(read, task.end))
        self._told = 0

    def _begin_at(self, line: list[int]) -> None:
        self._line, self._text = line, self._task.write(line)

    def hear(self, token: int, score: float) -> None:
        """Report one more token."""
        self._told += 1
        self._line.append(token)
        text = self._task.write(self._line)
        added = "" if text.endswith(BROKEN) else text.removeprefix(self._text)
        if added:
            self._text = text
            if token == self._task.end or len(self._line) > 2 * _LOOKED_BACK:
                self._begin_at(last_line(self._line, self._task.end))
        (name,) = self._task.tokeniser.pieces([token])
        self._tell(WrittenToken(name, added, score))

    def finish(self, tokens: Sequence[int], scores: Sequence[float]) -> None:
        """Report the tokens that were not heard."""
        for token, score in zip(tokens[self._told :], scores[self._told :], strict=False):
            self.hear(token, score)
