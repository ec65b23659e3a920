"""Batches of questions about stories; their order and empty memories depend only on seed and epoch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.data.stories.prepare import Stories
from regard.data.stories.telling import Told
from regard.models.stories.rows import StoryRows

MEASURED_ROWS = 1000  # of a batch for measuring only


@dataclass(frozen=True)
class StoryBatch:
    """Some questions, the numbers of their answers, and the slots of their supporting facts, or -1 if there are none.

    `parts` are the files they come from. `told` are facts and questions as people wrote them, if they did, and
    `forgotten` is the number of facts that do not fit into the memory.
    """

    stories: StoryRows
    labels: Int[Tensor, " batch"]
    support: Int[Tensor, "batch fact"]
    parts: np.ndarray
    told: Sequence[Told] = ()
    forgotten: Sequence[int] = ()

    @property
    def rows(self) -> int:
        return len(self.labels)

    def split(self, parts: int) -> list["StoryBatch"]:
        """Split the rows into `parts` smaller batches."""
        return [self._rows(rows) for rows in np.array_split(np.arange(self.rows), parts)]

    def where(self, is_wanted: np.ndarray) -> "StoryBatch":
        """Return only the rows for which `is_wanted` is true."""
        return self._rows(np.flatnonzero(is_wanted))

    def _rows(self, rows: np.ndarray) -> "StoryBatch":
        chosen = torch.from_numpy(rows).to(self.labels.device)
        return replace(self.holding(tuple(tensor[chosen] for tensor in self.tensors)), parts=self.parts[rows])

    # On a GPU a pass over a batch is captured and replayed: the launched work depends on shapes alone.

    room: ClassVar[int] = 0

    @property
    def count(self) -> int:
        return self.rows

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return *self.stories, self.labels, self.support

    def holding(self, tensors: tuple[Tensor, ...]) -> "StoryBatch":
        *stories, labels, support = tensors
        return StoryBatch(StoryRows(*stories), labels, support, self.parts)


class PlacedStories:
    """The questions of a split on the network's device; a batch is a selection of their rows."""

    def __init__(self, stories: Stories, slots: int, device: torch.device) -> None:
        arrays = (stories.facts, stories.counts, stories.questions, stories.labels, stories.support)
        self._tensors = [torch.from_numpy(np.ascontiguousarray(array)).to(device) for array in arrays]
        self._counts, self._parts, self._slots, self.device = stories.counts, stories.parts, slots, device

    def __len__(self) -> int:
        return len(self._counts)

    def in_order(self, start: int, batch: int = MEASURED_ROWS) -> Iterator[StoryBatch]:
        """Yield all questions in order, from batch number `start` on."""
        for first in range(start * batch, len(self), batch):
            rows = np.arange(first, min(first + batch, len(self)))
            yield self._batch(rows, times_of(self._counts[rows], self._width))

    def shuffled(self, batch: int, empty: float, chance: Sequence[int], start: int) -> Iterator[StoryBatch]:
        """Yield all questions in a random order from `chance`; each batch draws its own empty memories."""
        order = np.random.default_rng(chance).permutation(len(self))
        for number, first in enumerate(range(start * batch, len(self), batch), start):
            rows = order[first : first + batch]
            counts, draws = self._counts[rows], np.random.default_rng([*chance, number])
            times = draw_times(counts, self._width, empty, draws) if empty else times_of(counts, self._width)
            yield self._batch(rows, np.minimum(times, self._slots - 1))

    @property
    def _width(self) -> int:
        return self._tensors[0].shape[1]

    def _batch(self, rows: np.ndarray, times: np.ndarray) -> StoryBatch:
        where = torch.from_numpy(rows).to(self.device, non_blocking=True)
        facts, counts, questions, labels, support = (tensor.index_select(0, where) for tensor in self._tensors)
        ages = torch.from_numpy(times).to(self.device, non_blocking=True)
        return StoryBatch(StoryRows(facts, ages, counts, questions), labels, support, self._parts[rows])


def times_of(counts: np.ndarray, slots: int) -> np.ndarray:
    """Return the age of each fact (row, slot): 0 is the last before the question; empty slots are 0 too."""
    return np.maximum(counts[:, None] - 1 - np.arange(slots), 0)


def draw_times(counts: np.ndarray, slots: int, empty: float, draws: np.random.Generator) -> np.ndarray:
    """Return ages with random empty memories among the facts, up to the share `empty`, so that facts seem older.

    As in the code of Sukhbaatar et al. 2015, nothing attends to the empty ones: they only change the times of the
    others.
    """
    empties = draws.integers(0, np.ceil(empty * counts).astype(np.int64), endpoint=True)
    room = slots + int(np.ceil(empty * slots))
    keys = np.where(np.arange(room) < (counts + empties)[:, None], draws.random((len(counts), room)), 2.0)
    is_fact = keys.argsort(axis=1).argsort(axis=1) < counts[:, None]
    ages = np.argsort(~is_fact, axis=1, kind="stable")  # of the facts from the last one back, then of the others
    return np.take_along_axis(ages, times_of(counts, slots), axis=1)


def batch_of_questions(stories: Stories, slots: int, device: torch.device, told: Sequence[Told]) -> StoryBatch:
    """Return a batch of questions that people ask."""
    (batch,) = PlacedStories(stories, slots, device).in_order(0, len(stories))
    return replace(batch, told=told, forgotten=stories.forgotten.tolist())
