"""Writing several lines: to the searches the end of a line is then a token like others."""

from typing import Any

import torch
from torch import Tensor

from regard.protocols import State


class PastEnds:
    """A task that goes on past the ends of lines, until as much is written as may be.

    Searches end an output by an end token. This gives them another one, behind the vocabulary, which becomes possible,
    and certain, where the limit is reached; so it adds nothing to a score.
    """

    def __init__(self, task: Any, vocabulary: int, limits: Tensor) -> None:
        self._task, self._limits = task, limits
        self.begin, self.end = task.begin, vocabulary

    def start(self, batch: Any) -> State:
        state = self._task.start(batch)
        return State(state.sentence, {"own": state.row, "left": self._limits - 1})

    def reserve(self, state: State, copies: int, length: int) -> State:
        """The same with room, of a task that reserves it."""
        own = self._task.reserve(State(state.sentence, state.row["own"]), copies, length)
        return State(own.sentence, {"own": own.row, "left": state.row["left"].repeat_interleave(copies)})

    def extend(self, state: State, length: int) -> State:
        """The same with more room."""
        own = self._task.extend(State(state.sentence, state.row["own"]), length)
        return State(own.sentence, state.row | {"own": own.row})

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        # Searches of a fixed shape go on with rows that have ended, and the task does not know this end.
        tokens = torch.where(tokens == self.end, self._task.end, tokens)
        scores, own = self._task.step(tokens, State(state.sentence, state.row["own"]))
        left = state.row["left"]
        last = torch.zeros_like(scores[:, :1]).masked_fill(left[:, None] > 0, float("-inf"))
        return torch.cat([scores, last], dim=1), State(own.sentence, {"own": own.row, "left": left - 1})
