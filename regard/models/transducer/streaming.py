"""Streaming: frames come piece by piece, and labels are written as soon as they are certain."""

import torch
from jaxtyping import Float
from torch import Tensor

from regard.base.faults import Fault
from regard.models.recurrent.layers import Hidden, Stack
from regard.models.transducer.network import HeardFrames, Written
from regard.models.transducer.sounds import SoundTransducer


class FrameStream:
    """A sound as it comes in; the labels are those that greedy search writes with all frames at once.

    Between two pieces it keeps frames that are too few to stack, and the states of both networks.
    """

    def __init__(self, network: SoundTransducer) -> None:
        if not isinstance(network.reader, Stack) or network.reader.bidirectional:
            raise Fault(
                "This transducer hears a sound whole before it writes. To write while it hears, train with "
                "model.encoder = 'recurrent' and model.bidirectional = false."
            )
        self.network, self.reader = network, network.reader
        self._waiting = network.joint.out.weight.new_zeros(0, network.features)
        self._hidden: list[Hidden] | None = None
        self._written: Written | None = None

    @torch.no_grad()
    def hear(self, frames: Float[Tensor, "time feature"]) -> list[int]:
        """Return the labels that these frames add."""
        waiting = torch.cat([self._waiting, frames.to(self._waiting)])
        per = self.network.options.stack
        whole = len(waiting) // per
        self._waiting = waiting[whole * per :]
        return self._write(waiting[: whole * per].reshape(1, whole, -1)) if whole else []

    def finish(self) -> list[int]:
        """Return the labels that remain when no more frames come."""
        missing = -len(self._waiting) % self.network.options.stack
        return self.hear(self._waiting.new_zeros(missing, self.network.features))

    def _write(self, stacked: Float[Tensor, "1 frame depth"]) -> list[int]:
        states, self._hidden = self.reader(stacked, self._hidden)
        counts = torch.tensor([stacked.shape[1]], device=stacked.device)
        heard = HeardFrames(self.network.joint.heard(self.network.dropout(states)), counts)
        written = self.network.nothing_written(heard) if self._written is None else self._written
        (labels,), self._written = self.network.write_greedily(heard, written)
        return labels
