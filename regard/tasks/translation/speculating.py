"""A translator that reads several proposed tokens in one pass, for exact speculation."""

from typing import Any

from jaxtyping import Float, Int
from torch import Tensor

from regard.decoding.options import DecodingOptions
from regard.protocols import State
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.task import Translation


class SpeculatingTranslator:
    """A stepwise translator whose caches can be cut back to an earlier token."""

    def __init__(self, task: Translation) -> None:
        self.task: Translation = task
        self.network: Any = task.model
        self.begin, self.end = task.begin, task.end

    def start(self, batch: PairBatch) -> State:
        return self.task.start(batch)

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Float[Tensor, "row token"], State]:
        return self.task.step(tokens, state)

    def steps(self, tokens: Int[Tensor, "row time"], state: State) -> tuple[Float[Tensor, "row time token"], State]:
        states, past = self.network.write(tokens, state.sentence, state.row)
        return self.network.logits(states).float().log_softmax(-1), State(state.sentence, past)

    def take_back(self, state: State, count: int) -> State:
        return State(state.sentence, self.network.take_back(state.row, count))

    def room(self, state: State) -> int:
        longest: int = self.network.options.longest
        return longest


def speculation_obstacle(task: Translation, options: DecodingOptions) -> str | None:
    """Return why this translator cannot check a draft, as a clause; None if it can."""
    if task.model.finds_outputs_by != "decoder" or not task.model.has_caches:
        return "this translator does not write token by token with a cache of keys and values"
    if task.known is not None:
        return "this translator copies words of the source"
    return "a CTC head takes part in the search (ctc)" if options.ctc else None
