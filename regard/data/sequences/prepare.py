"""Prepare sequences for training: generated ones need nothing, pictures are read once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regard.base.faults import Fault
from regard.base.progress import Progress
from regard.data.pictures.prepare import PictureLabels, PreparedPictures, open_labels, prepare_pictures
from regard.data.sequences.drawing import Drawn, draw_examples
from regard.data.sequences.options import SequenceData

# Keys of generated examples begin with the number of their split.
SPLITS = {"train": 0, "valid": 1, "test": 2}


@dataclass(frozen=True)
class PreparedSequences:
    """Examples of a recipe, by split; `pictures` is set if their pixels are read."""

    options: SequenceData
    pictures: PreparedPictures | None

    @property
    def report(self) -> list[str]:
        if self.pictures is not None:
            return self.pictures.report
        return [f"examples are generated, {self.options.examples:,} an epoch"]

    def files(self) -> dict[str, bytes]:
        """Return the files to store in a model folder."""
        return {} if self.pictures is None else self.pictures.files()

    def count(self, split: str) -> int:
        """Return the number of examples of a split, or of an epoch of it."""
        if self.pictures is not None:
            return len(self.pictures.splits[split].rows) if split in self.pictures.splits else 0
        return {"train": self.options.examples, "valid": self.options.valid, "test": self.options.test}[split]

    def batches(self, split: str, size: int, seed: int, epoch: int, start: int) -> Iterator[Drawn]:
        """Yield the inputs and targets of an epoch, `size` examples at a time, from batch number `start` on.

        Training examples are new or in a new order in every epoch; others are always the same.
        """
        key = (seed, epoch) if split == "train" else (self.options.seed,)
        rows = self._rows(split, key)
        for first in range(start * size, self.count(split), size):
            last = min(first + size, self.count(split))
            if self.pictures is None:
                yield draw_examples(self.options, last - first, (SPLITS[split], *key, first))
            else:
                source, chosen = self.pictures.splits[split], rows[first:last]
                yield pixel_steps(self.options, source.pictures[chosen]), source.labels[chosen]

    def _rows(self, split: str, key: tuple[int, ...]) -> np.ndarray:
        """Return the rows of pictures in order; empty if examples are generated."""
        if not self.count(split) or self.pictures is None:
            return np.arange(0)
        rows = self.pictures.splits[split].rows
        return np.random.default_rng(key).permutation(rows) if split == "train" else rows


def prepare_sequences(options: SequenceData, folder: Path, progress: Progress) -> PreparedSequences:
    """Prepare the data that `options` name; pictures come from `folder` if they were prepared there before."""
    if options.pictures is None:
        return PreparedSequences(options, None)
    pictures = prepare_pictures(options.pictures, folder, progress)
    check_steps(options, pictures.labels)
    return PreparedSequences(options, pictures)


def labels_of(options: SequenceData, files: Mapping[str, bytes]) -> PictureLabels | None:
    """Return the picture facts stored with a model, or None if it reads no pictures."""
    return None if options.pictures is None else open_labels(files)


def check_steps(options: SequenceData, labels: PictureLabels) -> None:
    """Refuse a step size that does not divide the number of pixels."""
    if (pixels := labels.height * labels.width) % options.at_once:
        raise Fault(
            f"data.at_once is {options.at_once}, but a picture has {pixels} pixels, which is not a multiple of it."
        )


def pixel_steps(options: SequenceData, pictures: np.ndarray) -> np.ndarray:
    """Return the pixels of pictures (picture, height, width) as steps (picture, time, at_once)."""
    pixels = pictures.reshape(len(pictures), -1)
    if options.permuted:
        pixels = pixels[:, np.random.default_rng(options.seed).permutation(pixels.shape[1])]
    return np.ascontiguousarray(pixels.reshape(len(pictures), -1, options.at_once))
