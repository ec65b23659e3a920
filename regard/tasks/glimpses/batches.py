"""Batches of labelled pictures; their order and scenes depend only on seed, epoch and row."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from regard.data.pictures.prepare import PreparedPictures
from regard.data.pictures.scenes import make_scenes
from regard.tasks.held_batch import HeldBatch


@dataclass(frozen=True)
class PictureBatch(HeldBatch):
    """Some pictures with the numbers of their classes; `numbers` are their rows in the data."""

    pictures: UInt8[Tensor, "batch height width"]
    labels: Int[Tensor, " batch"]
    numbers: Int[Tensor, " batch"]

    @property
    def rows(self) -> int:
        return self.pictures.shape[0]

    def pixels(self, dtype: torch.dtype) -> Float[Tensor, "batch height width"]:
        """Return the pixels for a network of this precision: 0 is black, 1 is white."""
        return self.pictures.to(dtype) / 255

    def split(self, parts: int) -> list["PictureBatch"]:
        """Split the rows into `parts` smaller batches."""
        chunks = (tensor.chunk(parts) for tensor in (self.pictures, self.labels, self.numbers))
        return [PictureBatch(*chunk) for chunk in zip(*chunks, strict=True)]

    # For captured passes

    @property
    def count(self) -> int:
        return self.rows

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.pictures, self.labels

    def holding(self, tensors: tuple[Tensor, ...]) -> "PictureBatch":
        pictures, labels = tensors
        return PictureBatch(pictures, labels, self.numbers)


def picture_batches(
    prepared: PreparedPictures, split: str, batch: int, seed: int, epoch: int, start: int
) -> Iterator[PictureBatch]:
    """Yield the batches of an epoch from number `start` on, on the host.

    Training pictures come in a new order and in new scenes in every epoch; the others never change.
    """
    source, scene = prepared.splits[split], prepared.options.scene
    rows: np.ndarray = source.rows
    key: tuple[int | str, ...] = (split,)
    if split == "train":
        rows, key = np.random.default_rng([seed, epoch]).permutation(rows), (split, seed, epoch)
    for first in range(start * batch, len(rows), batch):
        chosen = rows[first : first + batch]
        pictures = source.pictures[chosen]
        if scene is not None:
            pictures = make_scenes(source.pictures, chosen, scene, (scene.seed, *key), source.rows)
        yield PictureBatch(*map(torch.from_numpy, (pictures, source.labels[chosen], chosen)))
