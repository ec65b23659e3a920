"""Spans of a text with some tokens hidden; their order depends only on seed and epoch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.tasks.masked.masking import NOTHING, Vocabulary, mask_rows
from regard.tasks.masked.options import MaskingOptions

MEASURED_ROWS = 32  # of a batch for measuring only


class MaskedRows(NamedTuple):
    """Tokens of each row, the masked places, and the tokens to predict there; `NOTHING` marks unused places."""

    tokens: Int[Tensor, "row time"]
    places: Int[Tensor, "row masked"]
    wanted: Int[Tensor, "row masked"]


@dataclass(frozen=True)
class MaskedBatch:
    """Some rows of tokens; `lengths` is None if there is no padding, `count` is the number of tokens to predict."""

    tensors: MaskedRows
    count: int
    lengths: Int[Tensor, " row"] | None = None

    # On a GPU a pass over a batch is captured and replayed: the launched work depends only on its shape.
    room: int = 0

    @property
    def rows(self) -> int:
        return len(self.tensors.tokens)

    def holding(self, tensors: MaskedRows) -> "MaskedBatch":
        """Copy the batch into other memory."""
        return replace(self, tensors=tensors)

    def to(self, device: torch.device) -> "MaskedBatch":
        """Copy the batch to a device."""
        if device.type == "cpu":
            return self
        moved = MaskedRows(*(tensor.pin_memory().to(device, non_blocking=True) for tensor in self.tensors))
        lengths = None if self.lengths is None else self.lengths.to(device, non_blocking=True)
        return replace(self, tensors=moved, lengths=lengths)

    def split(self, parts: int) -> list["MaskedBatch"]:
        """Split the rows into `parts` smaller batches."""
        pieces = []
        for rows in torch.arange(self.rows).chunk(parts):
            chosen = slice(int(rows[0]), int(rows[-1]) + 1)
            tensors = MaskedRows(*(tensor[chosen] for tensor in self.tensors))
            lengths = None if self.lengths is None else self.lengths[chosen]
            pieces.append(MaskedBatch(tensors, int((tensors.wanted != NOTHING).sum()), lengths))
        return pieces


class Spans:
    """A text with an end after each line, in consecutive spans, each after a begin token."""

    def __init__(self, tokens: np.ndarray, span: int, begin: int, pad: int) -> None:
        self._tokens, self._inside, self._begin, self._pad = tokens, span - 1, begin, pad

    @property
    def whole(self) -> int:
        """Number of full spans."""
        return len(self._tokens) // self._inside

    def __len__(self) -> int:
        return -(-len(self._tokens) // self._inside)

    def batch(
        self, numbers: np.ndarray, key: Sequence[int], vocabulary: Vocabulary, masking: MaskingOptions
    ) -> MaskedBatch:
        """Return these spans with their masks, on the host."""
        rows = np.full((len(numbers), self._inside + 1), self._pad, np.int64)
        rows[:, 0] = self._begin
        lengths = np.empty(len(numbers), np.int64)
        for row, number in enumerate(numbers.tolist()):
            text = self._tokens[number * self._inside : (number + 1) * self._inside]
            rows[row, 1 : 1 + len(text)] = text
            lengths[row] = 1 + len(text)
        tensors = MaskedRows(*map(torch.from_numpy, mask_rows(rows, numbers, key, vocabulary, masking)))
        is_full = bool((lengths == rows.shape[1]).all())
        count = int((tensors.wanted != NOTHING).sum())
        return MaskedBatch(tensors, count, None if is_full else torch.from_numpy(lengths))


def shuffled_batches(spans: Spans, batch: int, seed: int, epoch: int, start: int) -> Iterator[np.ndarray]:
    """Yield the spans of each batch of an epoch from number `start` on; an incomplete last span is dropped."""
    numbers = np.random.default_rng((seed, epoch)).permutation(spans.whole or len(spans))
    for first in range(start * batch, len(numbers), batch):
        yield numbers[first : first + batch]


def ordered_batches(spans: Spans, start: int) -> Iterator[np.ndarray]:
    """Yield all spans in order, several at a time, from batch `start` on."""
    for first in range(start * MEASURED_ROWS, len(spans), MEASURED_ROWS):
        yield np.arange(first, min(first + MEASURED_ROWS, len(spans)))
