"""Batches of drawings, in an order and with noise that are pure functions of seed, epoch and number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.data.strokes.prepare import Drawings
from regard.tasks.held_batch import HeldBatch

POOL = 16  # batches whose drawings are sorted by their length
STRIDE = 32  # the length of a batch is a multiple of it, so that few lengths occur
SPLIT_KEYS = {"train": 0, "valid": 1, "test": 2}


@dataclass(frozen=True)
class StrokeBatch(HeldBatch):
    """Some drawings, filled up to one length.

    Steps are moves (batch, time, 3), of which the last number is 0, 1 or 2 as the stroke goes on, it ends, or the
    drawing ends; or tokens (batch, time). `chance` (batch, time, 2) lies between −½ and ½, and is added to the moves: a
    drawing on the lattice of whole units has no density, but one that lies anywhere around its points has, and its nats
    are a bound of those on the lattice (Theis et al. 2016, "A note on the evaluation of generative models", 3.1).
    `noise` is what an autoencoder's numbers are drawn with.
    """

    steps: Int[Tensor, "batch time *move"]
    lengths: Int[Tensor, " batch"]
    chance: Float[Tensor, "batch *noisy"]
    noise: Float[Tensor, "batch latent"]
    points: Int[Tensor, " batch"]  # how many moves each has; on the host

    @property
    def rows(self) -> int:
        return self.steps.shape[0]

    def split(self, parts: int) -> list["StrokeBatch"]:
        """Split the rows into `parts` smaller batches."""
        chunks = (each.chunk(parts) for each in (*self.tensors, self.points))
        return [StrokeBatch(*chunk) for chunk in zip(*chunks, strict=True)]

    # What a captured pass holds

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
    """The drawings with these numbers; `longest` is the most steps that there can be, and `key` that of their noise."""
    steps, lengths = fill_up(drawings, rows, longest)
    random = np.random.default_rng(key)
    chance = random.random((*steps.shape[:2], 2) if steps.ndim == 3 else (len(rows), 0), np.float32) - 0.5
    noise = random.standard_normal((len(rows), latent), np.float32)
    return StrokeBatch(*map(torch.from_numpy, (steps, lengths, chance, noise, drawings.points[rows])))


def fill_up(drawings: Drawings, rows: np.ndarray, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """The steps of the drawings with these numbers, filled up to one length, and how many each has."""
    chosen = [drawings[row] for row in rows]
    time = min(-(-max(map(len, chosen)) // STRIDE) * STRIDE, longest)
    steps = np.zeros((len(rows), time, *drawings.steps.shape[1:]), np.int64)
    for row, own in zip(steps, chosen, strict=True):
        row[: len(own)] = own
    return steps, np.array([len(own) for own in chosen])


def stroke_batches(
    drawings: Drawings, split: str, batch: int, latent: int, longest: int, seed: int, epoch: int, start: int
) -> Iterator[StrokeBatch]:
    """The batches of an epoch from number `start` on, on the host."""
    for rows, key in rows_of_batches(drawings, split, batch, seed, epoch, start):
        yield gather_batch(drawings, rows, latent, longest, key)


def rows_of_batches(
    drawings: Drawings, split: str, batch: int, seed: int, epoch: int, start: int
) -> Iterator[tuple[np.ndarray, list[int]]]:
    """The numbers of the drawings in each batch of an epoch from number `start` on, and the key of its noise.

    Where they are learnt, a batch has drawings of about one length.
    """
    key = [SPLIT_KEYS[split]]
    order = np.arange(len(drawings))
    if split == "train":
        key = [SPLIT_KEYS[split], seed, epoch]
        order = _order(drawings.lengths(), batch, np.random.default_rng(key))
    for number in range(start, -(-len(order) // batch)):
        yield order[number * batch : (number + 1) * batch], [*key, number]


def _order(lengths: np.ndarray, batch: int, chance: np.random.Generator) -> np.ndarray:
    """All drawings in a new order, in which a batch has drawings of about one length, and the last what is left."""
    order = chance.permutation(len(lengths))
    pools = np.split(order, range(POOL * batch, len(order), POOL * batch))
    by_length = np.concatenate([pool[lengths[pool].argsort(kind="stable")] for pool in pools])
    batches, rest = np.split(by_length, [len(order) // batch * batch])
    return np.concatenate([chance.permutation(batches.reshape(-1, batch)).ravel(), rest])
