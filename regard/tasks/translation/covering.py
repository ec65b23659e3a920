"""A translator that tracks its attention to the source, as a coverage penalty needs."""

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
    """Return the module whose cross-attention aligns words best: that of the last block but one.

    Garg et al. (2019, section 4.1) found this for translation models of several sizes. A bottleneck has none, and a
    head that only chooses what to copy belongs to no block.
    """
    parts = dict(network.named_modules())
    pointers = {id(part.look) for part in parts.values() if isinstance(part, Pointer)}
    looks = {name: part for name, part in parts.items() if isinstance(part, Looks) and id(part) not in pointers}
    names = [name for name, part in looks.items() if _crosses(part)]
    return names[max(0, len(names) - 2)] if names else None


def _crosses(part: Looks) -> bool:
    return (part.looks_from, part.looks_at) == ("target", "source")


class Covering:
    """A stepwise translator whose rows also remember the attention that each source token has had.

    Watching rules out the fused kernels, so a search uses this only with a coverage penalty.
    """

    def __init__(self, task: Translation) -> None:
        where = crossing(task.model)
        if where is None:
            raise Fault("This model has no attention to its source. Set coverage_penalty to 0.")
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
        # A gaze may have the rows of a sentence as rows or as queries; the order is the same.
        looked: Float[Tensor, "row source"] = gaze.weights.mean(dim=1).flatten(0, 1)
        return log_probabilities, State(after.sentence, (after.row, covered + looked.to(covered.dtype)))

    def coverage(self, state: State) -> Float[Tensor, "row source"]:
        """Return the sums over the tokens so far, 1 at padding."""
        return state.row[1]
