"""Batches of sequences as tensors, all of one length, so that a pass over them can be captured."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor


@dataclass(frozen=True)
class SequenceBatch:
    """Some sequences as they are read, and what is wanted of each.

    Read are numbers (batch, time, 2), bytes of pixels (batch, time, pixel) or symbols (batch, time); wanted is a number
    or a class of each (batch), or a symbol at each step (batch, time).
    """

    read: Tensor
    wanted: Tensor

    @property
    def rows(self) -> int:
        return self.read.shape[0]

    def to(self, device: torch.device) -> "SequenceBatch":
        if device.type == "cpu":
            return self
        return SequenceBatch(*(each.pin_memory().to(device, non_blocking=True) for each in self.tensors))

    def split(self, parts: int) -> list["SequenceBatch"]:
        """The same rows in `parts` smaller batches."""
        return [SequenceBatch(*rows) for rows in zip(*(each.chunk(parts) for each in self.tensors), strict=True)]

    # On a GPU a pass over a batch is captured and replayed: what is launched depends on its shapes alone.

    room: ClassVar[int] = 0

    @property
    def count(self) -> int:
        return self.wanted.numel()

    @property
    def tensors(self) -> tuple[Tensor, Tensor]:
        return self.read, self.wanted

    def holding(self, tensors: tuple[Tensor, Tensor]) -> "SequenceBatch":
        return SequenceBatch(*tensors)
