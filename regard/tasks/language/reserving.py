"""A language model that writes into caches of a fixed length, which captured steps need."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.editing import is_observed
from regard.models.gpt import reserved
from regard.protocols import State
from regard.tasks.language.batches import Prompts
from regard.tasks.language.gradient import GradientLanguage
from regard.tasks.language.prompts import memory_of


class ReservingLanguage:
    """A stepwise language model whose rows have room reserved for a number of tokens.

    Its steps write into the state they are given, so that state cannot be reused; see `regard.models.gpt.reserved`.
    """

    def __init__(self, task: Any) -> None:
        if not isinstance(task, GradientLanguage) or not task.model.has_caches:
            raise TypeError(f"{type(task).__name__} has no caches to reserve")
        self.task: GradientLanguage = task
        self.network: Any = task.model
        self.begin, self.end = task.begin, task.end

    @torch.no_grad()
    def start(self, batch: Prompts) -> State:
        """Return the memory of each prompt without its last token, with no room reserved yet."""
        device = self.task.device
        rows = [[self.end, *tokens] for tokens in batch.tokens]
        last = torch.tensor([row[-1] for row in rows], device=device)
        memory = memory_of(self.network, [row[:-1] for row in rows], device)
        return State(reserved.started(self.network, memory, last), ())

    def reserve(self, state: State, copies: int, length: int) -> State:
        """Return a started state with room for `length` tokens in each of `copies` rows per prompt."""
        return State(*reserved.reserve(state.sentence, copies, length))

    def extend(self, state: State, length: int) -> State:
        """Return the state with room for `length` tokens in total."""
        return State(*reserved.extend(state.sentence, state.row, length))

    @torch.no_grad()
    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Float[Tensor, "row token"], State]:
        states, *after = reserved.write(self.network, tokens, state.sentence, state.row)
        return self.network.logits(states).float().log_softmax(-1), State(*after)


def can_reserve(task: object) -> bool:
    """Return True if `ReservingLanguage` can wrap this model now; watching and editing need the plain steps."""
    return isinstance(task, GradientLanguage) and task.model.has_caches and not task.training and not is_observed()
