"""Shared by batches whose GPU pass is captured once and replayed, and how they are filled."""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import torch
from torch import Tensor


class HeldBatch(ABC):
    """A batch of tensors for a network, and of whatever people are told of it.

    What is launched for it depends on the shapes of its tensors alone, as `regard.protocols.FixedShape` asks.
    """

    room: ClassVar[int] = 0

    @property
    @abstractmethod
    def tensors(self) -> tuple[Tensor, ...]:
        """All that a network is given."""

    @abstractmethod
    def holding(self, tensors: tuple[Tensor, ...]) -> Self:
        """Copy the batch into other memory."""

    def to(self, device: torch.device) -> Self:
        """Copy the tensors to another device; everything else stays on the host."""
        if device.type == "cpu":
            return self
        return self.holding(tuple(each.pin_memory().to(device, non_blocking=True) for each in self.tensors))
