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
    threads: int | None = None  # as many as suit where it learns

    def rate(self, passed: float) -> float:
        """The learning rate when this part of the training, from 0 to 1, has passed: it falls in a straight line."""
        return max(self.learning_rate + (self.lowest_rate - self.learning_rate) * passed, self.lowest_rate)


class Update(NamedTuple):
    """Result of an update: the loss summed over predictions, the share of the data, and the speed."""

    total: float
    predictions: int
    items: int
    learning_rate: float


def keys(seed: int, epoch: int, start: int) -> Iterator[int]:
    """A key of 62 bits for each batch of an epoch, never 0, from which all that it draws is drawn."""
    for number in count(start):
        digest = blake2b(f"{seed}:{epoch}:{number}".encode(), digest_size=8).digest()
        yield (int.from_bytes(digest, "big") >> 2) | 1 << 61


def check_tables(tensors: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse tensors that are not those of such a model."""
    for name, shape in shapes.items():
        found = tensors.get(name)
        if found is None or tuple(found.shape) != shape or found.dtype != torch.float32:
            raise Fault(f"The weights are not those of these word vectors: '{name}' should be of shape {shape}.")
        if not found.isfinite().all():
            raise Fault(f"The weights are damaged: '{name}' holds a value that is not a finite number.")
    if others := tensors.keys() - shapes.keys():
        raise Fault(f"The weights are not those of these word vectors: nothing here is called '{min(others)}'.")
