"""Base of batches whose GPU pass is captured once and replayed."""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import torch
from torch import Tensor


class HeldBatch(ABC):
    """A batch of tensors for a network, with facts about it for people.

    The launched work depends only on the shapes of its tensors, as `regard.protocols.FixedShape` requires.
    """

    room: ClassVar[int] = 0

    @property
    @abstractmethod
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors that a network is given."""

    @abstractmethod
    def holding(self, tensors: tuple[Tensor, ...]) -> Self:
        """Copy the batch into other memory."""

    def to(self, device: torch.device) -> Self:
        """Copy the tensors to another device; everything else stays on the host."""
        if device.type == "cpu":
            return self
        return self.holding(tuple(tensor.pin_memory().to(device, non_blocking=True) for tensor in self.tensors))
