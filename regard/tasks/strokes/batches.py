"""Batches of drawings; their order and noise depend only on seed, epoch and number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.data.strokes.prepare import Drawings
from regard.tasks.held_batch import HeldBatch

POOL = 16  # batches whose drawings are sorted by length
STRIDE = 32  # batch lengths are multiples of this, so that there are few
SPLIT_KEYS = {"train": 0, "valid": 1, "test": 2}


@dataclass(frozen=True)
class StrokeBatch(HeldBatch):
    """Some drawings, padded to one length.

    Steps are moves (batch, time, 3), whose last number is 0, 1 or 2: the stroke goes on, the stroke ends, or the
    drawing ends; or tokens (batch, time). `chance` (batch, time, 2) is between −½ and ½ and is added to the moves. A
    drawing on the lattice of whole units has no density, but one with noise around its points has, and its nats are a
    bound of those on the lattice (Theis et al. 2016, "A note on the evaluation of generative models", 3.1). `noise` is
    used to sample an autoencoder's latents.
    """

    steps: Int[Tensor, "batch time *move"]
    lengths: Int[Tensor, " batch"]
    chance: Float[Tensor, "batch *noisy"]
    noise: Float[Tensor, "batch latent"]
    points: Int[Tensor, " batch"]  # number of moves in each; on the host

    @property
    def rows(self) -> int:
        return self.steps.shape[0]

    def split(self, parts: int) -> list["StrokeBatch"]:
        """Split the rows into `parts` smaller batches."""
        chunks = (tensor.chunk(parts) for tensor in (*self.tensors, self.points))
        return [StrokeBatch(*chunk) for chunk in zip(*chunks, strict=True)]

    # For captured passes

    @property
    def count(self) -> int:
        return int(self.points.sum())

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.steps, self.lengths, self.chance, self.noise

    def holding(self, tensors: tuple[Tensor, ...]) -> "StrokeBatch":
        steps, lengths, chance, noise = tensors
        return StrokeBatch(steps, lengths, chance, noise, self.points)


def gather_batch(drawings: Drawings, rows: np.ndarray, latent: int, longest: int, key: Sequence[int]) -> StrokeBatch:
    """Return the drawings with these numbers; `longest` is the most steps possible, `key` seeds their noise."""
    steps, lengths = fill_up(drawings, rows, longest)
    random = np.random.default_rng(key)
    chance = random.random((*steps.shape[:2], 2) if steps.ndim == 3 else (len(rows), 0), np.float32) - 0.5
    noise = random.standard_normal((len(rows), latent), np.float32)
    return StrokeBatch(*map(torch.from_numpy, (steps, lengths, chance, noise, drawings.points[rows])))


def fill_up(drawings: Drawings, rows: np.ndarray, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps of the drawings with these numbers, padded to one length, and their numbers of steps."""
    chosen = [drawings[row] for row in rows]
    time = min(-(-max(map(len, chosen)) // STRIDE) * STRIDE, longest)
    steps = np.zeros((len(rows), time, *drawings.steps.shape[1:]), np.int64)
    for row, drawing in zip(steps, chosen, strict=True):
        row[: len(drawing)] = drawing
    return steps, np.array([len(drawing) for drawing in chosen])


def stroke_batches(
    drawings: Drawings, split: str, batch: int, latent: int, longest: int, seed: int, epoch: int, start: int
) -> Iterator[StrokeBatch]:
    """Yield the batches of an epoch from number `start` on, on the host."""
    for rows, key in rows_of_batches(drawings, split, batch, seed, epoch, start):
        yield gather_batch(drawings, rows, latent, longest, key)


def rows_of_batches(
    drawings: Drawings, split: str, batch: int, seed: int, epoch: int, start: int
) -> Iterator[tuple[np.ndarray, list[int]]]:
    """Yield the numbers of the drawings in each batch of an epoch from number `start` on, and the key of its noise.

    Training batches have drawings of similar length.
    """
    key = [SPLIT_KEYS[split]]
    order = np.arange(len(drawings))
    if split == "train":
        key = [SPLIT_KEYS[split], seed, epoch]
        order = _order(drawings.lengths(), batch, np.random.default_rng(key))
    for number in range(start, -(-len(order) // batch)):
        yield order[number * batch : (number + 1) * batch], [*key, number]


def _order(lengths: np.ndarray, batch: int, chance: np.random.Generator) -> np.ndarray:
    """Return all drawings in a new order: batches have drawings of similar length, the last has the rest."""
    order = chance.permutation(len(lengths))
    pools = np.split(order, range(POOL * batch, len(order), POOL * batch))
    by_length = np.concatenate([pool[lengths[pool].argsort(kind="stable")] for pool in pools])
    batches, rest = np.split(by_length, [len(order) // batch * batch])
    return np.concatenate([chance.permutation(batches.reshape(-1, batch)).ravel(), rest])
