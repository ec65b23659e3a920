"""Batches of sounds; their order and strings depend only on seed, epoch and number."""

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
    """Some sounds with their transcripts as symbol numbers; lengths are in samples.

    `parts` say which part of a split each belongs to, and `names` what people call it. `masks` are random numbers from
    0 to 1 for masking in training: for each mask the first band, how many, the first frame, how many.
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
        """Return some of the rows."""
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
    """One sound and its transcript."""

    samples: np.ndarray
    labels: Sequence[int]
    part: str = ""
    name: str = ""


def batch_of(sounds: Sequence[LabelledSound], masks: np.ndarray | None = None) -> SoundBatch:
    """Return sounds as one batch, padded with silence."""
    lengths = [len(sound.samples) for sound in sounds]
    counts = [len(sound.labels) for sound in sounds]
    samples, labels = (
        torch.zeros(len(sounds), max(lengths)),
        torch.zeros(len(sounds), max(1, *counts), dtype=torch.long),
    )
    for row, sound in enumerate(sounds):
        samples[row, : lengths[row]] = torch.from_numpy(np.asarray(sound.samples, np.float32))
        labels[row, : counts[row]] = torch.tensor(sound.labels, dtype=torch.long)
    hidden = np.zeros((len(sounds), 0, 4), np.float32) if masks is None else masks
    return SoundBatch(
        samples,
        torch.tensor(lengths),
        labels,
        torch.tensor(counts),
        tuple(sound.part for sound in sounds),
        tuple(sound.name for sound in sounds),
        torch.from_numpy(hidden),
    )


class SoundSource:
    """The sounds of a split: single recordings, or strings made of them."""

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
        """Yield the batches of an epoch from number `start` on, on the host.

        Training sounds come in a new order or in new strings in every epoch; the others never change.
        """
        items = self._items(seed, epoch)
        for first in range(start * rows, len(items), rows):
            chosen = items[first : first + rows]
            sounds = [self._sound(part, number, seed, epoch) for part, number in chosen]
            if not masks or self.split != "train":
                yield batch_of(sounds)
                continue
            random_masks = np.random.default_rng([seed, epoch, first, 1]).random((len(chosen), masks, 4), np.float32)
            yield batch_of(sounds, random_masks)

    def _items(self, seed: int, epoch: int) -> list[tuple[str, int]]:
        """Return the part and number of each sound of an epoch, where a number is a row or a string."""
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
