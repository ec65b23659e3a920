"""A language model that reads several proposed tokens in one pass, for exact speculation."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.protocols import State
from regard.tasks.language.batches import Prompts
from regard.tasks.language.gradient import GradientLanguage


class SpeculatingLanguage:
    """A stepwise language model whose memory can be cut back to an earlier token."""

    def __init__(self, task: GradientLanguage) -> None:
        self.task = task
        self.network: Any = task.model
        self.begin, self.end = task.begin, task.end

    def start(self, batch: Prompts) -> State:
        return self.task.start(batch)

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Float[Tensor, "row token"], State]:
        return self.task.step(tokens, state)

    @torch.no_grad()
    def steps(self, tokens: Int[Tensor, "row time"], state: State) -> tuple[Float[Tensor, "row time token"], State]:
        reading = self.task.read_more(tokens, state)
        scores = self.network.logits(reading.states).float().log_softmax(-1)
        return scores, self.task.state_after(reading, state)

    def take_back(self, state: State, count: int) -> State:
        return State((), state.row | {"memory": self.network.take_back(state.row["memory"], count)})

    def room(self, state: State) -> int:
        return int(self.network.room(state.row["memory"]))


def speculation_obstacle(task: Any) -> str | None:
    """Return why this language model cannot check a draft, as a clause; None if it can."""
    if isinstance(task, GradientLanguage) and task.model.has_caches:
        return None
    return "this language model has no cache of keys and values that could be cut back"
