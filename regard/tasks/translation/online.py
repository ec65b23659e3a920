"""What a translator minimises that decides at each input step whether to write: its tokens, and its decisions."""

from dataclasses import dataclass

from torch import Tensor

from regard.models.online.learning import learn_to_write
from regard.models.online.text import Online
from regard.protocols import Loss, Tally, mean
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.exploring import real_targets


@dataclass(frozen=True)
class WritingOnline:
    """Cross-entropy over drawn paths of each pair, and REINFORCE for their decisions to write or to wait."""

    label_smoothing: float

    def __call__(self, network: Online, batch: PairBatch, carry: dict[str, Tensor] | None) -> Loss:
        memory = network.read(batch.source, batch.source_lengths)
        real = real_targets(batch)
        found = learn_to_write(network, memory, batch.inputs, batch.target, real, carry, self.label_smoothing)
        tallies = {"entropy": Tally(found.entropy, mean), "place": Tally(found.place, mean)}
        return Loss(found.loss, batch.tokens, tallies, found.carry)
