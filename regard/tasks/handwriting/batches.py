"""Batches of lines of writing, which are pure functions of seed, epoch and number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from regard.data.pictures.lines import Line, LineOptions, write_line
from regard.data.pictures.prepare import LabelledPictures

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class LineBatch:
    """Some lines, black behind the end of the shorter ones, and the numbers of the classes of their signs."""

    pictures: UInt8[Tensor, "batch height width"]
    widths: Int[Tensor, " batch"]
    labels: Int[Tensor, "batch label"]
    label_counts: Int[Tensor, " batch"]

    @property
    def rows(self) -> int:
        return len(self.widths)

    def columns(self, dtype: torch.dtype) -> Float[Tensor, "batch width height"]:
        """What a network of this precision is given, column after column: 0 is black, 1 is white."""
        return self.pictures.to(dtype).transpose(1, 2) / 255

    def to(self, device: torch.device) -> "LineBatch":
        """The same on another device."""
        if device.type == "cpu":
            return self
        moved = {name: each.pin_memory().to(device, non_blocking=True) for name, each in vars(self).items()}
        return LineBatch(**moved)

    def split(self, parts: int) -> list["LineBatch"]:
        """The same rows in `parts` smaller batches."""
        chunks = zip(*(each.chunk(parts) for each in vars(self).values()), strict=True)
        return [LineBatch(*chunk) for chunk in chunks]


def batch_of(lines: Sequence[Line]) -> LineBatch:
    """Lines of one height in one batch, on the host."""
    widths, counts = [line.pixels.shape[1] for line in lines], [len(line.labels) for line in lines]
    pictures = np.zeros((len(lines), lines[0].pixels.shape[0], max(widths)), np.uint8)
    labels = np.zeros((len(lines), max(1, *counts)), np.int64)
    for row, line in enumerate(lines):
        pictures[row, :, : widths[row]] = line.pixels
        labels[row, : counts[row]] = line.labels
    return LineBatch(*map(torch.from_numpy, (pictures, np.array(widths), labels, np.array(counts))))


def line_batches(
    signs: LabelledPictures, options: LineOptions, split: str, batch: int, seed: int, epoch: int, start: int
) -> Iterator[LineBatch]:
    """The batches of an epoch from number `start` on: new lines to learn from in every epoch, else always the same."""
    learns = split == "train"
    count = options.train if learns else options.measured
    key = [SPLITS.index(split), seed, epoch] if learns else [SPLITS.index(split), options.seed]
    for first in range(start * batch, count, batch):
        numbers = range(first, min(first + batch, count))
        yield batch_of([write_line(signs, options, [*key, number]) for number in numbers])
