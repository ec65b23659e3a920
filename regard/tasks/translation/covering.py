"""A translator that keeps account of what it has looked at, which is what a coverage penalty asks for."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.attention.watch import HasModules, Looks, watching
from regard.base.faults import Fault
from regard.models.copying import Pointer
from regard.protocols import State
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.task import Translation


def crossing(network: HasModules) -> str | None:
    """The part whose attention from target to source aligns words best: that of the last block but one.

    So found in translation models of several sizes by Garg et al. (2019, section 4.1). A bottleneck has none, and a
    head that only says what to copy belongs to no block.
    """
    parts = dict(network.named_modules())
    pointers = {id(part.look) for part in parts.values() if isinstance(part, Pointer)}
    looks = {name: part for name, part in parts.items() if isinstance(part, Looks) and id(part) not in pointers}
    names = [name for name, part in looks.items() if _crosses(part)]
    return names[max(0, len(names) - 2)] if names else None


def _crosses(part: Looks) -> bool:
    return (part.looks_from, part.looks_at) == ("target", "source")


class Covering:
    """A stepwise translator whose rows also remember the attention each source token has had.

    To watch costs the fused kernels, so a search asks for this only when it has a coverage penalty.
    """

    def __init__(self, task: Translation) -> None:
        where = crossing(task.model)
        if where is None:
            raise Fault("This model has no attention that could cover its source; set coverage_penalty to 0.")
        self.task, self.where = task, where
        self.begin, self.end = task.begin, task.end

    def start(self, batch: PairBatch) -> State:
        state = self.task.start(batch)
        places = torch.arange(batch.source.shape[1], device=batch.source.device)
        padding = places >= batch.source_lengths.to(places.device)[:, None]
        return State(state.sentence, (state.row, padding.float()))

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Tensor, State]:
        row, covered = state.row
        with watching(self.task.model, where=self.where) as gazes:
            log_probabilities, after = self.task.step(tokens, State(state.sentence, row))
        (gaze,) = gazes
        # Whether a gaze has the rows of a sentence as its rows or as its queries, they come in the same order.
        looked: Float[Tensor, "row source"] = gaze.weights.mean(dim=1).flatten(0, 1)
        return log_probabilities, State(after.sentence, (after.row, covered + looked.to(covered.dtype)))

    def coverage(self, state: State) -> Float[Tensor, "row source"]:
        """The sums over the tokens so far, 1 at padding."""
        return state.row[1]
