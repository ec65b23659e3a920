"""Batches of pictures with captions, in an order that is a pure function of seed and epoch."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from regard.data.painting.prepare import PAD, PreparedPainting
from regard.tasks.held_batch import HeldBatch


@dataclass(frozen=True)
class PaintingBatch(HeldBatch):
    """Some pictures, each with one caption; `numbers` are the rows that they have in their data."""

    pictures: UInt8[Tensor, "batch channel height width"]
    captions: Int[Tensor, "batch word"]
    numbers: Int[Tensor, " batch"]

    @property
    def rows(self) -> int:
        return self.captions.shape[0]

    @property
    def lengths(self) -> Int[Tensor, " batch"]:
        """How many words each caption has."""
        return (self.captions != PAD).sum(dim=1)

    def pixels(self, dtype: torch.dtype) -> Float[Tensor, "batch channel height width"]:
        """What a network of this precision is given: 0 is dark, 1 is light."""
        return self.pictures.to(dtype) / 255

    def split(self, parts: int) -> list["PaintingBatch"]:
        """The same rows in `parts` smaller batches."""
        chunks = (each.chunk(parts) for each in (self.pictures, self.captions, self.numbers))
        return [PaintingBatch(*chunk) for chunk in zip(*chunks, strict=True)]

    # What a captured pass holds

    @property
    def count(self) -> int:
        return self.rows

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.pictures, self.captions

    def holding(self, tensors: tuple[Tensor, ...]) -> "PaintingBatch":
        pictures, captions = tensors
        return PaintingBatch(pictures, captions, self.numbers)


def painting_batches(
    prepared: PreparedPainting, split: str, batch: int, seed: int, epoch: int, start: int
) -> Iterator[PaintingBatch]:
    """The batches of an epoch from number `start` on, on the host.

    To learn from, pictures come in a new order in every epoch, each with one of its captions that is drawn anew; else
    order and captions are always the same.
    """
    source = prepared.splits[split]
    rows, several = source.rows, source.captions.shape[1]
    chosen = rows % several
    if split == "train":
        chance = np.random.default_rng([seed, epoch])
        rows, chosen = chance.permutation(rows), chance.integers(0, several, len(rows))
    for first in range(start * batch, len(rows), batch):
        own, which = rows[first : first + batch], chosen[first : first + batch]
        yield PaintingBatch(*map(torch.from_numpy, (source.pictures[own], source.captions[own, which], own)))
