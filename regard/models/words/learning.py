"""Shared by word vectors in training: the learning rate, the keys of random draws, and checks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from regard.base.faults import Fault

Which = Literal["centres", "contexts", "mean"]


@dataclass(frozen=True)
class Learning:
    """Learning rates, threads and portions."""

    learning_rate: float
    lowest_rate: float
    batch_words: int
    threads: int | None = None  # by default, as many as suit the device

    def rate(self, passed: float) -> float:
        """Return the learning rate after this fraction of the training, from 0 to 1; it falls linearly."""
        return max(self.learning_rate + (self.lowest_rate - self.learning_rate) * passed, self.lowest_rate)


class Update(NamedTuple):
    """Result of an update: the loss summed over predictions, the numbers of predictions and items, and the rate."""

    total: float
    predictions: int
    items: int
    learning_rate: float


def keys(seed: int, epoch: int, start: int) -> Iterator[int]:
    """Yield a nonzero key of 62 bits for each batch of an epoch, which seeds all its random draws."""
    for number in count(start):
        digest = blake2b(f"{seed}:{epoch}:{number}".encode(), digest_size=8).digest()
        yield (int.from_bytes(digest, "big") >> 2) | 1 << 61


def check_tables(tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse tensors that do not belong to such a model."""
    for name, shape in shapes.items():
        tensor = tensors.get(name)
        if tensor is None or tuple(tensor.shape) != shape or tensor.dtype != torch.float32:
            raise Fault(f"The weights are not those of these word vectors: '{name}' should have shape {shape}.")
        if not tensor.isfinite().all():
            raise Fault(f"The weights are damaged: '{name}' holds a value that is not a finite number.")
    if others := tensors.keys() - shapes.keys():
        raise Fault(f"The weights are not those of these word vectors: unexpected '{min(others)}'.")
