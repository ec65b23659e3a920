"""Batches of texts and the sounds that say them, each a pure function of seed, epoch and number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.data.sounds.prepare import PreparedSounds
from regard.data.sounds.strings import by_speaker, join_recordings
from regard.data.sounds.voices import PAD, Voices
from regard.tasks.held_batch import HeldBatch
from regard.tasks.speaking.hearing import Hearing

SYMBOL_ROOM = 8  # texts are padded to a multiple of this many symbols, and sounds to half a second,
SOUNDS_A_SECOND = 2  # so that there are few shapes of batches


@dataclass(frozen=True)
class SpeechBatch(HeldBatch):
    """Some texts, their speakers, and their sounds; texts that people ask for have no sound."""

    symbols: Int[Tensor, "batch symbol"]
    symbol_counts: Int[Tensor, " batch"]
    speakers: Int[Tensor, " batch"]
    sounds: Float[Tensor, "batch sample"]
    frame_counts: Int[Tensor, " batch"]
    texts: Sequence[str]
    count: int  # frames in total

    @property
    def rows(self) -> int:
        return len(self.texts)

    def split(self, parts: int) -> list["SpeechBatch"]:
        """Split the rows into `parts` smaller batches."""
        size = -(-self.rows // parts)
        firsts = range(0, self.rows, size)
        chunks = zip(*(tensor.split(size) for tensor in self.tensors), strict=True)
        return [
            replace(self.holding(chunk), texts=self.texts[first : first + size], count=int(chunk[-1].sum()))
            for first, chunk in zip(firsts, chunks, strict=True)
        ]

    # For captured passes

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.symbols, self.symbol_counts, self.speakers, self.sounds, self.frame_counts

    def holding(self, tensors: tuple[Tensor, ...]) -> "SpeechBatch":
        symbols, symbol_counts, speakers, sounds, frame_counts = tensors
        return SpeechBatch(symbols, symbol_counts, speakers, sounds, frame_counts, self.texts, self.count)


@dataclass(frozen=True)
class SpokenText:
    """A text, the number of its speaker, and its sound."""

    text: str
    speaker: int
    sound: np.ndarray


def make_batch(spoken: Sequence[SpokenText], voices: Voices, hearing: Hearing) -> SpeechBatch:
    """Return texts and sounds padded to common lengths; without sounds, texts are padded only to the longest."""
    spelled = [voices.spell(item.text).symbols for item in spoken]
    counts, lengths = [len(item) for item in spelled], [len(item.sound) for item in spoken]
    symbols = torch.full((len(spoken), _room(max(counts), SYMBOL_ROOM if max(lengths) else 1)), PAD)
    sounds = torch.zeros(len(spoken), _room(max(lengths), voices.rate // SOUNDS_A_SECOND))
    for row, (numbers, item) in enumerate(zip(spelled, spoken, strict=True)):
        symbols[row, : len(numbers)] = torch.tensor(numbers)
        sounds[row, : len(item.sound)] = torch.from_numpy(item.sound)
    frames = hearing.frame_counts(torch.tensor(lengths))
    return SpeechBatch(
        symbols,
        torch.tensor(counts),
        torch.tensor([item.speaker for item in spoken]),
        sounds,
        frames,
        [item.text for item in spoken],
        int(frames.sum()),
    )


def _room(length: int, multiple: int) -> int:
    return -(-length // multiple) * multiple


def speech_batches(
    prepared: PreparedSounds, voices: Voices, split: str, rows: int, hearing: Hearing, seed: int, epoch: int, start: int
) -> Iterator[SpeechBatch]:
    """Yield the batches of an epoch from number `start` on, on the host.

    Training sounds come in a new order and in new strings in every epoch; the others never change.
    """
    rows_of_split = [row for part_rows in prepared.parts[split].values() for row in part_rows]
    strings = prepared.options.strings
    if strings is not None and split != "train":
        strings = strings.for_measuring()
    count = len(rows_of_split) if strings is None else strings.train if split == "train" else strings.measured
    order = np.random.default_rng([seed, epoch]).permutation(count) if split == "train" else np.arange(count)
    speakers = by_speaker(prepared.recordings, rows_of_split)
    key = (split, seed, epoch) if split == "train" else (split, 0 if strings is None else strings.seed)

    def speech(number: int) -> SpokenText:
        if strings is None:
            chosen, sound = [rows_of_split[number]], prepared.recordings.sound(rows_of_split[number])
        else:
            joined = join_recordings(prepared.recordings, speakers, voices.rate, strings, key, number)
            chosen, sound = joined.rows, joined.samples
        text = " ".join(prepared.recordings.texts[row] for row in chosen)
        return SpokenText(text, voices.speaker_number(prepared.recordings.speakers[chosen[0]]), sound)

    for first in range(start * rows, count, rows):
        yield make_batch([speech(int(number)) for number in order[first : first + rows]], voices, hearing)
