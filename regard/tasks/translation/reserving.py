"""A translator that writes into caches of a fixed length, which captured steps need."""

from typing import Any

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.editing import is_observed
from regard.models.transformer import reserved
from regard.protocols import State
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.task import Translation

SHORT = 64  # sources up to this length are padded to a multiple of 16, for the kernels; longer ones to 64


class Reserving:
    """A stepwise translator whose rows have room reserved for a number of tokens.

    Its steps write into the state they are given, so that state cannot be reused; see
    `regard.models.transformer.reserved`.
    """

    def __init__(self, task: Translation) -> None:
        if not task.model.has_caches:
            raise TypeError(f"{type(task.model).__name__} has no caches to reserve")
        self.task: Translation = task
        self.network: Any = task.model
        self.begin, self.end = task.begin, task.end

    def start(self, batch: PairBatch) -> State:
        """Return the encoded sources with no room reserved yet; sources are padded to one of a few lengths."""
        length, most = batch.source.shape[1], self.network.options.longest
        padding = min(few_lengths(length), most) - length
        source = F.pad(batch.source, (0, padding), value=self.task.source.pad)
        memory = self.network.read(source, batch.source_lengths)
        return State(memory, self.network.begin(memory))

    def reserve(self, state: State, copies: int, length: int) -> State:
        """Return a started state with room for `length` tokens in each of `copies` rows per sentence."""
        return State(*reserved.reserve(state.sentence, copies, length))

    def extend(self, state: State, length: int) -> State:
        """Return the state with room for `length` tokens in total."""
        return State(*reserved.extend(state.sentence, state.row, length))

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Float[Tensor, "row token"], State]:
        states, *after = reserved.write(self.network, tokens, state.sentence, state.row)
        return self.network.logits(states).float().log_softmax(-1), State(*after)


def can_reserve(task: Translation) -> bool:
    """Return True if `Reserving` can wrap this translator now.

    Recurrent translators have no caches; those that copy write tokens beyond the vocabulary; dropout is for training;
    and watching and editing need the plain steps.
    """
    return task.model.has_caches and task.known is None and not task.training and not is_observed()


def few_lengths(length: int) -> int:
    """Return the length that a source of this length is padded to."""
    step = 16 if length <= SHORT else 64
    return -(-length // step) * step
