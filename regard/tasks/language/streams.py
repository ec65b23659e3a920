"""Text as a stream: split into parts of one length that are read side by side, a span of each in every batch.

The tokens of all sentences follow one another, with an end after each. An end also precedes the first, so that every
token is predicted from one before it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

NOTHING = -1  # target of padding
SHORTEST_SPAN = 5  # varying spans are multiples of this
_DEVIATION = 5  # standard deviation of span lengths
_SHARE_OF_HALVES = 0.05  # share of spans about half as long as the others


@dataclass(frozen=True)
class StreamBatch:
    """Tokens read in each row, and the token to predict after each of them."""

    tokens: Int[Tensor, "row time"]
    wanted: Int[Tensor, "row time"]

    @property
    def rows(self) -> int:
        return self.tokens.shape[0]

    def to(self, device: torch.device) -> "StreamBatch":
        """Copy the batch to a device."""
        if device.type == "cpu":
            return self
        both = torch.stack([self.tokens, self.wanted]).pin_memory().to(device, non_blocking=True)
        return StreamBatch(*both)

    def split(self, parts: int) -> list["StreamBatch"]:
        """Split the rows into `parts` smaller batches."""
        chunks = zip(self.tokens.chunk(parts), self.wanted.chunk(parts), strict=True)
        return [StreamBatch(*chunk) for chunk in chunks]

    # On a GPU a pass over a batch is captured and replayed: the launched work depends only on its shape.

    room: ClassVar[int] = 0

    @property
    def count(self) -> int:
        return self.tokens.numel()

    @property
    def tensors(self) -> tuple[Tensor, Tensor]:
        return self.tokens, self.wanted

    def holding(self, tensors: tuple[Tensor, Tensor]) -> "StreamBatch":
        return StreamBatch(*tensors)


def training_batches(
    tokens: np.ndarray, end: int, rows: int, spans: Sequence[int], start: int
) -> Iterator[StreamBatch]:
    """Yield the batches of an epoch from number `start` on; the few tokens that fill no row are dropped."""
    time = len(tokens) // rows
    targets = tokens[: rows * time].reshape(rows, time)
    before_rows = np.array([end, *targets[:-1, -1]])
    place = sum(spans[:start])
    for span in spans[start:]:
        span_targets = targets[:, place : place + span].astype(np.int64)
        before = targets[:, place - 1] if place else before_rows
        read = np.concatenate([before[:, None].astype(np.int64), span_targets[:, :-1]], axis=1)
        yield StreamBatch(torch.from_numpy(read), torch.from_numpy(span_targets))
        place += span


def spans_of(time: int, span: int, vary: bool, seed: int, epoch: int) -> list[int]:
    """Return the number of tokens per row in each batch of an epoch, `time` in total.

    Varying lengths mostly follow a normal distribution around `span`, and one in twenty around half of it, so that rows
    are not always cut at the same places (Merity et al. 2018, section 4.1). Ours are multiples of five: on a GPU the
    pass of each length is captured once.
    """
    generator, spans, left = np.random.default_rng([seed, epoch]), [], time
    while left > 0:
        length = span
        if vary:
            middle = span / 2 if generator.random() < _SHARE_OF_HALVES else span
            sample = generator.normal(middle, _DEVIATION)
            length = max(SHORTEST_SPAN, SHORTEST_SPAN * round(sample / SHORTEST_SPAN))
        spans.append(min(length, left))
        left -= spans[-1]
    return spans


def training_windows(
    tokens: np.ndarray, end: int, rows: int, span: int, seed: int, epoch: int, start: int
) -> Iterator[StreamBatch]:
    """Yield the batches of an epoch from number `start` on, for a network that starts every row without memory.

    The text is cut every `span` tokens from a random offset, and windows come in random order, both different in each
    epoch; the few windows that fill no batch are dropped.
    """
    generator = np.random.default_rng([seed, epoch])
    first = int(generator.integers(min(span, len(tokens) - rows * span + 1)))
    places = generator.permutation(np.arange(first, len(tokens) - span + 1, span))
    for number in range(start * rows, len(places) - rows + 1, rows):
        yield _windows_at(tokens, end, places[number : number + rows], span)


def measured_windows(tokens: np.ndarray, end: int, span: int, overlap: int, rows: int) -> Iterator[StreamBatch]:
    """Yield all tokens, each predicted once, in windows of `span` tokens, `rows` per batch.

    The first `overlap` tokens of a window belong to the previous one; they are read but not predicted again.
    """
    step = span - overlap
    places = np.arange(0, max(1, len(tokens) - overlap), step)
    for number in range(0, len(places), rows):
        batch = _windows_at(tokens, end, places[number : number + rows], span)
        batch.wanted[int(number == 0) :, :overlap] = NOTHING
        yield batch


def _windows_at(tokens: np.ndarray, end: int, places: np.ndarray, span: int) -> StreamBatch:
    """Return the tokens and targets of windows that begin at these places, padded after the text."""
    every = places[:, None] + np.arange(-1, span)
    text = tokens[every.clip(0, len(tokens) - 1)].astype(np.int64)
    targets = np.where(every < len(tokens), text, NOTHING)[:, 1:]
    text[every < 0] = end
    return StreamBatch(torch.from_numpy(text[:, :-1]), torch.from_numpy(targets))


def whole_stream(tokens: np.ndarray, end: int, rows: int) -> StreamBatch:
    """Return all tokens in one batch, each predicted once; the last row may be padded."""
    rows = max(1, min(rows, len(tokens)))
    time = -(-len(tokens) // rows)
    targets = np.full(rows * time, NOTHING, np.int64)
    targets[: len(tokens)] = tokens
    read = np.full(rows * time, end, np.int64)
    read[1 : len(tokens)] = tokens[:-1]
    return StreamBatch(*(torch.from_numpy(part.reshape(rows, time)) for part in (read, targets)))


def padded_rows(rows: Sequence[np.ndarray], end: int) -> StreamBatch:
    """Return texts of different lengths as independent rows, each with its own end."""
    time = max(len(row) for row in rows)
    read, targets = np.full((len(rows), time), end, np.int64), np.full((len(rows), time), NOTHING, np.int64)
    for number, row in enumerate(rows):
        targets[number, : len(row)] = row
        read[number, 1 : len(row)] = row[:-1]
    return StreamBatch(torch.from_numpy(read), torch.from_numpy(targets))
