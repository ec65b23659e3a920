"""Writing several lines: to the searches the end of a line is then a token like others."""

from typing import Any

import torch
from torch import Tensor

from regard.protocols import State, Stepwise


class PastEnds:
    """A task that goes on past the ends of lines, until as much is written as may be.

    Searches end an output by an end token. This gives them another one, behind the vocabulary, which becomes possible,
    and certain, where the limit is reached; so it adds nothing to a score.
    """

    def __init__(self, task: Stepwise, vocabulary: int, limits: Tensor) -> None:
        self._task, self._limits = task, limits
        self.begin, self.end = task.begin, vocabulary

    def start(self, batch: Any) -> State:
        state = self._task.start(batch)
        return State(state.sentence, {"own": state.row, "left": self._limits - 1})

    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        scores, own = self._task.step(tokens, State(state.sentence, state.row["own"]))
        left = state.row["left"]
        last = torch.zeros_like(scores[:, :1]).masked_fill(left[:, None] > 0, float("-inf"))
        return torch.cat([scores, last], dim=1), State(own.sentence, {"own": own.row, "left": left - 1})
