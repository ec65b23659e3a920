"""Sentences as rows of tokens, those of about one length together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.data.corpora.batching import BatchPlan

MEASURED_ROWS = 32  # of a batch that is only measured


@dataclass(frozen=True)
class SentenceBatch:
    """Some sentences as tokens, without marks at their ends.

    Where tokens are words and people wrote them, `written` has them as they did.
    """

    tokens: Int[Tensor, "batch time"]
    lengths: Int[Tensor, " batch"]  # on the host wherever the rest is: recurrent layers must know them there
    written: Sequence[Sequence[str]] = ()

    @property
    def rows(self) -> int:
        return len(self.tokens)

    def to(self, device: torch.device) -> "SentenceBatch":
        return replace(self, tokens=self.tokens.to(device, non_blocking=True))

    def split(self, parts: int) -> list["SentenceBatch"]:
        """The same rows in smaller batches."""
        chunks = zip(self.tokens.chunk(parts), self.lengths.chunk(parts), strict=True)
        return [SentenceBatch(tokens, lengths) for tokens, lengths in chunks]


def pad_rows(rows: Sequence[Sequence[int] | np.ndarray], pad: int) -> SentenceBatch:
    """Rows of different lengths as one batch, on the host."""
    lengths = torch.tensor([len(row) for row in rows])
    table = np.full((len(rows), int(lengths.max())), pad, dtype=np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return SentenceBatch(torch.from_numpy(table), lengths)


class SentenceRows:
    """The sentences of a text that ends each of them with the end token, by their numbers."""

    def __init__(self, tokens: np.ndarray, end: int) -> None:
        self._tokens, self._ends = tokens, np.flatnonzero(tokens == end)
        self.lengths = np.diff(self._ends, prepend=-1) - 1

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> np.ndarray:
        end = self._ends[number]
        return np.asarray(self._tokens[end - self.lengths[number] : end], np.int64)

    def shuffled(self, budget: int, seed: int, epoch: int, start: int) -> Iterator[list[np.ndarray]]:
        """The rows of each batch of an epoch, of at most so many tokens with the end of each, from batch `start` on."""
        plan = BatchPlan(self.lengths, self.lengths, budget, [(0, len(self), 1.0)])
        for numbers in plan.batches(seed, epoch, start):
            yield [self[number] for number in numbers.tolist()]

    def in_order(self, start: int) -> Iterator[list[np.ndarray]]:
        """All rows, some at a time, from batch `start` on."""
        for first in range(start * MEASURED_ROWS, len(self), MEASURED_ROWS):
            yield [self[number] for number in range(first, min(first + MEASURED_ROWS, len(self)))]
