"""Text as a stream: cut into parts of one length that are read side by side, a span of each in every batch.

The tokens of all sentences stand one behind the other, an end after each. What stands before the first is an end too,
so that every token has one before it, from which it is predicted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

NOTHING = -1  # is wanted where there is only padding
SHORTEST_SPAN = 5  # which all others are multiples of, where spans vary
_DEVIATION = 5  # of the lengths of spans
_SHARE_OF_HALVES = 0.05  # of spans that are about half as long as the others


@dataclass(frozen=True)
class StreamBatch:
    """Tokens that are read in each row, and the token wanted after each of them."""

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

    # On a GPU a pass over a batch is captured and replayed: what is launched depends on its shape alone.

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
    """The batches of an epoch from number `start` on; the few tokens that fill no row are left out."""
    time = len(tokens) // rows
    wanted = tokens[: rows * time].reshape(rows, time)
    before_rows = np.array([end, *wanted[:-1, -1]])
    place = sum(spans[:start])
    for span in spans[start:]:
        own = wanted[:, place : place + span].astype(np.int64)
        before = wanted[:, place - 1] if place else before_rows
        read = np.concatenate([before[:, None].astype(np.int64), own[:, :-1]], axis=1)
        yield StreamBatch(torch.from_numpy(read), torch.from_numpy(own))
        place += span


def spans_of(time: int, span: int, vary: bool, seed: int, epoch: int) -> list[int]:
    """Return the number of tokens of each row in each batch of an epoch, `time` in all.

    Where they vary, most are drawn from a normal distribution around `span` and one in twenty around half of it, so
    that rows are not always cut at the same places (Merity et al. 2018, section 4.1). Ours are multiples of five: on a
    GPU the pass of each length is captured once.
    """
    generator, found, left = np.random.default_rng([seed, epoch]), [], time
    while left > 0:
        length = span
        if vary:
            middle = span / 2 if generator.random() < _SHARE_OF_HALVES else span
            drawn = generator.normal(middle, _DEVIATION)
            length = max(SHORTEST_SPAN, SHORTEST_SPAN * round(drawn / SHORTEST_SPAN))
        found.append(min(length, left))
        left -= found[-1]
    return found


def training_windows(
    tokens: np.ndarray, end: int, rows: int, span: int, seed: int, epoch: int, start: int
) -> Iterator[StreamBatch]:
    """The batches of an epoch from number `start` on, of a network that begins every row with nothing.

    The text is cut at every `span` tokens from a place on that is drawn anew for each epoch, and the windows come in an
    order that is drawn too; the few that fill no batch are left out.
    """
    generator = np.random.default_rng([seed, epoch])
    first = int(generator.integers(min(span, len(tokens) - rows * span + 1)))
    places = generator.permutation(np.arange(first, len(tokens) - span + 1, span))
    for number in range(start * rows, len(places) - rows + 1, rows):
        yield _windows_at(tokens, end, places[number : number + rows], span)


def measured_windows(tokens: np.ndarray, end: int, span: int, overlap: int, rows: int) -> Iterator[StreamBatch]:
    """All tokens, each wanted once, in windows of so many tokens, some `rows` of them in each batch.

    The first `overlap` tokens of a window stood in the one before it; they are read, and not wanted again.
    """
    step = span - overlap
    places = np.arange(0, max(1, len(tokens) - overlap), step)
    for number in range(0, len(places), rows):
        batch = _windows_at(tokens, end, places[number : number + rows], span)
        batch.wanted[int(number == 0) :, :overlap] = NOTHING
        yield batch


def _windows_at(tokens: np.ndarray, end: int, places: np.ndarray, span: int) -> StreamBatch:
    """Return what is read and wanted in windows that begin at these places, padded after the text."""
    every = places[:, None] + np.arange(-1, span)
    text = tokens[every.clip(0, len(tokens) - 1)].astype(np.int64)
    wanted = np.where(every < len(tokens), text, NOTHING)[:, 1:]
    text[every < 0] = end
    return StreamBatch(torch.from_numpy(text[:, :-1]), torch.from_numpy(wanted))


def whole_stream(tokens: np.ndarray, end: int, rows: int) -> StreamBatch:
    """All tokens in one batch, each of them wanted once; behind the last row there may be padding."""
    rows = max(1, min(rows, len(tokens)))
    time = -(-len(tokens) // rows)
    wanted = np.full(rows * time, NOTHING, np.int64)
    wanted[: len(tokens)] = tokens
    read = np.full(rows * time, end, np.int64)
    read[1 : len(tokens)] = tokens[:-1]
    return StreamBatch(*(torch.from_numpy(each.reshape(rows, time)) for each in (read, wanted)))


def padded_rows(rows: Sequence[np.ndarray], end: int) -> StreamBatch:
    """Texts of different lengths, each a row that begins anew and has its own end."""
    time = max(len(row) for row in rows)
    read, wanted = np.full((len(rows), time), end, np.int64), np.full((len(rows), time), NOTHING, np.int64)
    for number, row in enumerate(rows):
        wanted[number, : len(row)] = row
        read[number, 1 : len(row)] = row[:-1]
    return StreamBatch(torch.from_numpy(read), torch.from_numpy(wanted))
