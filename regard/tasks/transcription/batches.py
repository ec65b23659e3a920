"""Batches of sounds, in an order and in strings that are pure functions of seed, epoch and number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.data.sounds.prepare import PreparedSounds
from regard.data.sounds.strings import by_speaker, join_recordings


@dataclass(frozen=True)
class SoundBatch:
    """Some sounds, each with what it says as numbers of symbols; the lengths are in samples.

    `parts` say which part of a split each belongs to, and `names` what people call it. `masks` are draws from 0 to 1 of
    what is hidden while training: for each mask the first band, how many, the first frame, how many.
    """

    samples: Float[Tensor, "batch sample"]
    lengths: Int[Tensor, " batch"]
    labels: Int[Tensor, "batch label"]
    label_counts: Int[Tensor, " batch"]
    parts: tuple[str, ...]
    names: tuple[str, ...]
    masks: Float[Tensor, "batch mask 4"]

    @property
    def rows(self) -> int:
        return len(self.lengths)

    def to(self, device: torch.device) -> "SoundBatch":
        """Copy the batch to a device."""
        if device.type == "cpu":
            return self
        named = ("samples", "lengths", "labels", "label_counts", "masks")
        moved = {name: getattr(self, name).pin_memory().to(device, non_blocking=True) for name in named}
        return replace(self, **moved)

    def split(self, parts: int) -> list["SoundBatch"]:
        """Split the rows into `parts` smaller batches."""
        chunks = torch.arange(self.rows).chunk(parts)
        return [self.of_rows(chunk.tolist()) for chunk in chunks]

    def of_rows(self, rows: Sequence[int]) -> "SoundBatch":
        """Some rows of it."""
        chosen = list(rows)
        return SoundBatch(
            self.samples[chosen],
            self.lengths[chosen],
            self.labels[chosen],
            self.label_counts[chosen],
            tuple(self.parts[row] for row in chosen),
            tuple(self.names[row] for row in chosen),
            self.masks[chosen],
        )


@dataclass(frozen=True)
class LabelledSound:
    """One sound and what it says."""

    samples: np.ndarray
    labels: Sequence[int]
    part: str = ""
    name: str = ""


def batch_of(sounds: Sequence[LabelledSound], masks: np.ndarray | None = None) -> SoundBatch:
    """Sounds in one batch, behind each of them silence to the end of the longest."""
    lengths = [len(each.samples) for each in sounds]
    counts = [len(each.labels) for each in sounds]
    samples, labels = (
        torch.zeros(len(sounds), max(lengths)),
        torch.zeros(len(sounds), max(1, *counts), dtype=torch.long),
    )
    for row, each in enumerate(sounds):
        samples[row, : lengths[row]] = torch.from_numpy(np.asarray(each.samples, np.float32))
        labels[row, : counts[row]] = torch.tensor(each.labels, dtype=torch.long)
    hidden = np.zeros((len(sounds), 0, 4), np.float32) if masks is None else masks
    return SoundBatch(
        samples,
        torch.tensor(lengths),
        labels,
        torch.tensor(counts),
        tuple(each.part for each in sounds),
        tuple(each.name for each in sounds),
        torch.from_numpy(hidden),
    )


class SoundSource:
    """The sounds of a split: recordings as they are, or strings made of them."""

    def __init__(self, prepared: PreparedSounds, split: str) -> None:
        self.prepared, self.split = prepared, split
        self.parts = prepared.parts[split]
        numbers = {symbol: number for number, symbol in enumerate(prepared.alphabet.symbols)}
        texts, cut = prepared.recordings.texts, prepared.alphabet.cut
        self._labels = {
            row: [numbers[symbol] for symbol in cut(texts[row])] for rows in self.parts.values() for row in rows
        }
        self._voices = {part: by_speaker(prepared.recordings, rows) for part, rows in self.parts.items()}
        every = [row for rows in self.parts.values() for row in rows]
        self._all_voices = by_speaker(prepared.recordings, every)

    def batches(self, rows: int, masks: int, seed: int, epoch: int, start: int) -> Iterator[SoundBatch]:
        """The batches of an epoch from number `start` on, on the host.

        To learn from, sounds come in a new order or in new strings in every epoch; else they are always the same.
        """
        items = self._items(seed, epoch)
        for first in range(start * rows, len(items), rows):
            chosen = items[first : first + rows]
            sounds = [self._sound(part, number, seed, epoch) for part, number in chosen]
            if not masks or self.split != "train":
                yield batch_of(sounds)
                continue
            drawn = np.random.default_rng([seed, epoch, first, 1]).random((len(chosen), masks, 4), np.float32)
            yield batch_of(sounds, drawn)

    def _items(self, seed: int, epoch: int) -> list[tuple[str, int]]:
        """The part and the number of each sound of an epoch: that of a row, or of a string."""
        strings = self.prepared.options.strings
        if strings is not None:
            if self.split == "train":
                return [("", number) for number in range(strings.train)]
            return [(part, number) for part in self.parts for number in range(strings.measured)]
        items = [(part, row) for part, rows in self.parts.items() for row in rows]
        if self.split == "train":
            return [items[place] for place in np.random.default_rng([seed, epoch]).permutation(len(items))]
        return items

    def _sound(self, part: str, number: int, seed: int, epoch: int) -> LabelledSound:
        recordings, strings = self.prepared.recordings, self.prepared.options.strings
        if strings is None:
            return LabelledSound(recordings.sound(number), self._labels[number], part, f"sound {number + 1}")
        if self.split == "train":
            key: tuple[int | str, ...] = ("train", seed, epoch)
            voices = self._all_voices
        else:
            key, voices = (self.split, part, strings.seed), self._voices[part]
            strings = strings.for_measuring()
        joined = join_recordings(recordings, voices, self.prepared.options.rate, strings, key, number)
        labels = [label for row in joined.rows for label in self._labels[row]]
        return LabelledSound(joined.samples, labels, part, f"string {number + 1}")
