"""Batches of examples, each a pure function of seed, epoch and number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.data.algorithms.examples import Examples, draw_examples
from regard.data.algorithms.options import AlgorithmData, HeldOut
from regard.tasks.held_batch import HeldBatch

STRIDE = 4  # lengths are padded to a multiple of this, so few shapes are captured and few steps wasted
MEASURED_ROWS = 50  # of a batch for measuring only
SPLIT_KEYS = {"valid": 1, "test": 2}
_HELD_OUT = (1,)


@dataclass(frozen=True)
class AlgorithmBatch(HeldBatch):
    """Examples for each member, their answers, the steps with an answer, and the number of items in each row."""

    inputs: Float[Tensor, "member row step channel"]
    answers: Float[Tensor, "member row step bit"]
    asked: Bool[Tensor, "row step"]
    items: Int[Tensor, " row"]
    count: int  # answer bits, for one member
    slots: int | None = None  # size of the memory to read with, if it is not the model's

    @classmethod
    def of(cls, examples: Sequence[Examples], slots: int | None = None) -> "AlgorithmBatch":
        """Return a batch from the examples of each member, which have one shape; a single set serves all members."""
        inputs, answers = (
            torch.from_numpy(np.stack([getattr(example, name) for example in examples]))
            for name in ("inputs", "answers")
        )
        first = examples[0]
        return cls(
            inputs,
            answers,
            torch.from_numpy(first.asked),
            torch.from_numpy(first.items),
            int(first.asked.sum()) * answers.shape[-1],
            slots,
        )

    @property
    def rows(self) -> int:
        return self.inputs.shape[1]

    def repeat(self, members: int) -> "AlgorithmBatch":
        """Return the examples repeated for each member."""
        inputs, answers = (tensor.expand(members, -1, -1, -1) for tensor in (self.inputs, self.answers))
        return replace(self, inputs=inputs, answers=answers)

    def split(self, parts: int) -> list["AlgorithmBatch"]:
        """Split the rows into `parts` smaller batches."""
        chunks = zip(
            self.inputs.chunk(parts, dim=1),
            self.answers.chunk(parts, dim=1),
            self.asked.chunk(parts),
            self.items.chunk(parts),
            strict=True,
        )
        return [
            AlgorithmBatch(inputs, answers, is_asked, items, int(is_asked.sum()) * answers.shape[-1], self.slots)
            for inputs, answers, is_asked, items in chunks
        ]

    # For captured passes

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.inputs, self.answers, self.asked

    def holding(self, tensors: tuple[Tensor, ...]) -> "AlgorithmBatch":
        inputs, answers, is_asked = tensors
        return replace(self, inputs=inputs, answers=answers, asked=is_asked)


@dataclass(frozen=True)
class LearntExamples:
    """The training examples: all of a batch have one size, which does not depend on the seed.

    So the members of a stack, each with its own examples, have the same shapes.
    """

    data: AlgorithmData
    rows: int
    epoch_length: int  # batches
    curriculum: int  # batches over which the largest number of items grows
    repeats_curriculum: int = 0  # the same of repeats

    def batches(self, seeds: Sequence[int], epoch: int, start: int) -> Iterator[AlgorithmBatch]:
        """Yield the batches of an epoch from number `start` on, with the examples of each seed."""
        for number in range(start, self.epoch_length):
            items, repeats = self._size(epoch, number)
            examples = [
                draw_examples(self.data, self.rows, items, repeats, np.random.default_rng([seed, epoch, number]))
                for seed in seeds
            ]
            steps = -(-examples[0].steps // STRIDE) * STRIDE
            yield AlgorithmBatch.of([example.pad(steps) for example in examples])

    def _size(self, epoch: int, number: int) -> tuple[int, int]:
        """Return the number of items in a batch's examples, and how often they repeat."""
        data, chance = self.data, np.random.default_rng([epoch, number])
        batches = epoch * self.epoch_length + number
        most_items = _grown(data.fewest, data.most, batches, self.curriculum)
        most_repeats = _grown(1, data.most_repeats, batches, self.repeats_curriculum)
        return int(chance.integers(data.fewest, most_items + 1)), int(chance.integers(1, most_repeats + 1))


def _grown(fewest: int, most: int, batches: int, curriculum: int) -> int:
    """Return the largest number after so many batches, if it grows from `fewest` to `most` over a curriculum."""
    share = min(1.0, batches / curriculum) if curriculum else 1.0
    return fewest + round(share * (most - fewest))


def held_out_batches(data: AlgorithmData, held_out: HeldOut, split: str, start: int) -> Iterator[AlgorithmBatch]:
    """Yield examples that are never learnt from, the same for every seed; all of a batch have one number of items."""
    repeats, number = held_out.repeats or data.most_repeats, 0
    for items in held_out.items:
        for first in range(0, held_out.examples, MEASURED_ROWS):
            rows = min(MEASURED_ROWS, held_out.examples - first)
            if number >= start:
                chance = _held_out_chance(data, [SPLIT_KEYS[split], items, first])
                yield AlgorithmBatch.of([draw_examples(data, rows, items, repeats, chance)], held_out.slots)
            number += 1


def _held_out_chance(data: AlgorithmData, key: list[int]) -> np.random.Generator:
    """Return the random generator for held-out examples.

    The key of a training batch is its seed, epoch and number. A spawn key follows all words of such a key, so a key
    that has one is never a training batch's.
    """
    spawn_key = _HELD_OUT if data.held_out_keys == "apart" else ()
    return np.random.default_rng(np.random.SeedSequence(key, spawn_key=spawn_key))
