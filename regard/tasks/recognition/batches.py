"""Batches of drawings with their classes, distorted anew in every epoch where they are learnt."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.data.strokes.prepare import Drawings
from regard.tasks.held_batch import HeldBatch
from regard.tasks.strokes.batches import fill_up, rows_of_batches

UNKNOWN = -1  # the class of a drawing that people ask about


@dataclass(frozen=True)
class LabelledDrawings(HeldBatch):
    """Some drawings, filled up to one length as in `StrokeBatch`, with the numbers of their classes.

    `maps` turn, stretch and slant the moves of each; tokens stay as they are.
    """

    steps: Int[Tensor, "batch time *move"]
    lengths: Int[Tensor, " batch"]
    maps: Float[Tensor, "batch 2 2"]
    labels: Int[Tensor, " batch"]

    @property
    def rows(self) -> int:
        return self.steps.shape[0]

    def split(self, parts: int) -> list["LabelledDrawings"]:
        """The same rows in `parts` smaller batches."""
        return [LabelledDrawings(*each) for each in zip(*(own.chunk(parts) for own in self.tensors), strict=True)]

    # What a captured pass holds

    @property
    def count(self) -> int:
        return self.rows

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.steps, self.lengths, self.maps, self.labels

    def holding(self, tensors: tuple[Tensor, ...]) -> "LabelledDrawings":
        return LabelledDrawings(*tensors)


def plain_batch(drawings: Drawings, rows: np.ndarray, longest: int) -> LabelledDrawings:
    """The drawings with these numbers as they are; without classes, where they have none."""
    steps, lengths = fill_up(drawings, rows, longest)
    labels = np.full(len(rows), UNKNOWN) if drawings.labels is None else drawings.labels[rows]
    still = torch.eye(2).repeat(len(rows), 1, 1)
    return LabelledDrawings(torch.from_numpy(steps), torch.from_numpy(lengths), still, torch.from_numpy(labels))


def labelled_batches(
    drawings: Drawings, split: str, batch: int, distort: float, longest: int, seed: int, epoch: int, start: int
) -> Iterator[LabelledDrawings]:
    """The batches of an epoch from number `start` on, on the host."""
    for rows, key in rows_of_batches(drawings, split, batch, seed, epoch, start):
        found = plain_batch(drawings, rows, longest)
        if split == "train":
            added = np.random.default_rng(key).standard_normal((len(rows), 2, 2), np.float32)
            found.maps.add_(torch.from_numpy(distort * added))
        yield found
