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

STRIDE = 4  # lengths are padded to a multiple of it: few shapes are captured, and few steps are in vain
MEASURED_ROWS = 50  # of a batch that is only measured
SPLIT_KEYS = {"valid": 1, "test": 2}
_HELD_OUT = (1,)


@dataclass(frozen=True)
class AlgorithmBatch(HeldBatch):
    """Examples for each member, their answers, which steps are asked for, and how many items each row has."""

    inputs: Float[Tensor, "member row step channel"]
    answers: Float[Tensor, "member row step bit"]
    asked: Bool[Tensor, "row step"]
    items: Int[Tensor, " row"]
    count: int  # bits that are asked for, of one member
    slots: int | None = None  # of the memory that they are read with, where it is not the model's

    @classmethod
    def of(cls, examples: Sequence[Examples], slots: int | None = None) -> "AlgorithmBatch":
        """The batch of the examples of each member, which have the same shape; one holds for all members."""
        inputs, answers = (
            torch.from_numpy(np.stack([getattr(each, name) for each in examples])) for name in ("inputs", "answers")
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
        inputs, answers = (each.expand(members, -1, -1, -1) for each in (self.inputs, self.answers))
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
            AlgorithmBatch(inputs, answers, asked, items, int(asked.sum()) * answers.shape[-1], self.slots)
            for inputs, answers, asked, items in chunks
        ]

    # What a captured pass holds

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.inputs, self.answers, self.asked

    def holding(self, tensors: tuple[Tensor, ...]) -> "AlgorithmBatch":
        inputs, answers, asked = tensors
        return replace(self, inputs=inputs, answers=answers, asked=asked)


@dataclass(frozen=True)
class LearntExamples:
    """The examples that are learnt from: batches of one size each, which is the same whatever the seed.

    So the members of a stack, each with examples of its own, have the same shapes.
    """

    data: AlgorithmData
    rows: int
    epoch_length: int  # batches
    curriculum: int  # batches over which the most items grow

    def batches(self, seeds: Sequence[int], epoch: int, start: int) -> Iterator[AlgorithmBatch]:
        """The batches of an epoch from number `start` on, with the examples of each seed."""
        for number in range(start, self.epoch_length):
            items, repeats = self._size(epoch, number)
            drawn = [
                draw_examples(self.data, self.rows, items, repeats, np.random.default_rng([seed, epoch, number]))
                for seed in seeds
            ]
            steps = -(-drawn[0].steps // STRIDE) * STRIDE
            yield AlgorithmBatch.of([each.pad(steps) for each in drawn])

    def _size(self, epoch: int, number: int) -> tuple[int, int]:
        """Return the number of items in a batch's examples, and how often they are repeated."""
        data, chance = self.data, np.random.default_rng([epoch, number])
        share = min(1.0, (epoch * self.epoch_length + number) / self.curriculum) if self.curriculum else 1.0
        most = data.fewest + round(share * (data.most - data.fewest))
        return int(chance.integers(data.fewest, most + 1)), int(chance.integers(1, data.most_repeats + 1))


def held_out_batches(data: AlgorithmData, held_out: HeldOut, split: str, start: int) -> Iterator[AlgorithmBatch]:
    """Examples that are not learnt from, the same for every seed; a batch has one number of items."""
    repeats, number = held_out.repeats or data.most_repeats, 0
    for items in held_out.items:
        for first in range(0, held_out.examples, MEASURED_ROWS):
            rows = min(MEASURED_ROWS, held_out.examples - first)
            if number >= start:
                chance = _held_out_chance(data, [SPLIT_KEYS[split], items, first])
                yield AlgorithmBatch.of([draw_examples(data, rows, items, repeats, chance)], held_out.slots)
            number += 1


def _held_out_chance(data: AlgorithmData, key: list[int]) -> np.random.Generator:
    """Return the chance by which examples that are not learnt from are drawn.

    The key of a batch to learn from is its seed, epoch and number. A spawn key comes behind all words of such a key, so
    one that has it is none of those.
    """
    apart = _HELD_OUT if data.held_out_keys == "apart" else ()
    return np.random.default_rng(np.random.SeedSequence(key, spawn_key=apart))
