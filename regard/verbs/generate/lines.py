"""Writing several lines: to the searches the end of a line is then a token like others."""

from typing import Any

import torch
from torch import Tensor

from regard.protocols import State


class PastEnds:
    """A task that goes on past the ends of lines, until it is cut where as much is written as may be.

    Searches end an output by an end token. This gives them another one, behind the vocabulary, which is never written.
    """

    def __init__(self, task: Any, vocabulary: int) -> None:
        self._task = task
        self.begin, self.end = task.begin, vocabulary

    def start(self, batch: Any) -> State:
        state: State = self._task.start(batch)
        return state

    def reserve(self, state: State, copies: int, length: int) -> State:
        """Reserve room, of a task that can."""
        reserved: State = self._task.reserve(state, copies, length)
        return reserved

    def extend(self, state: State, length: int) -> State:
        """Give the state more room."""
        extended: State = self._task.extend(state, length)
        return extended

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        # Searches of a fixed shape go on with rows that have ended, and the task does not know this end.
        tokens = torch.where(tokens == self.end, self._task.end, tokens)
        scores, state = self._task.step(tokens, state)
        return torch.cat([scores, torch.full_like(scores[:, :1], float("-inf"))], dim=1), state
