"""Batches of sequences as tensors of one length, so that a pass over them can be captured."""

from dataclasses import dataclass

from torch import Tensor

from regard.tasks.held_batch import HeldBatch


@dataclass(frozen=True)
class SequenceBatch(HeldBatch):
    """Some sequences as they are read, and the target of each.

    `read` are numbers (batch, time, 2), pixel bytes (batch, time, pixel) or symbols (batch, time). `wanted` is a number
    or a class per sequence (batch), or a symbol at each step (batch, time).
    """

    read: Tensor
    wanted: Tensor

    @property
    def rows(self) -> int:
        return self.read.shape[0]

    def split(self, parts: int) -> list["SequenceBatch"]:
        """Split the rows into `parts` smaller batches."""
        return [SequenceBatch(*rows) for rows in zip(*(tensor.chunk(parts) for tensor in self.tensors), strict=True)]

    # For captured passes

    @property
    def count(self) -> int:
        return self.wanted.numel()

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.read, self.wanted

    def holding(self, tensors: tuple[Tensor, ...]) -> "SequenceBatch":
        return SequenceBatch(*tensors)
