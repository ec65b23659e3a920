"""Recordings: all samples one after another in a single array, and of each what is said, by whom, and its number."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regard.base.faults import Fault
from regard.data.catalogue.unpack import Unusable, archive_members, naming_damage
from regard.data.corpora.text import file_of
from regard.data.lines import read_lines
from regard.data.sounds.files import from_16_bits, read_sound, to_16_bits
from regard.data.sounds.options import SoundFiles

MOST_BYTES = 2**33  # of all files in an archive
_NAME = re.compile(r"(?:.*/)?([^_/]+)_([^_/]+)_(\d{1,9})\.(?:wav|flac)", re.IGNORECASE)


@dataclass(frozen=True)
class Recordings:
    """`samples`, of 16 bits, are those of all recordings; number n has those from starts[n] on, below starts[n + 1].

    What is said, by whom ("" where nobody knows), the number that a recording has among those that say the same, and
    what its file is called.
    """

    samples: np.ndarray
    starts: np.ndarray
    texts: list[str]
    speakers: list[str]
    numbers: list[int]
    names: list[str]

    def __len__(self) -> int:
        return len(self.texts)

    def sound(self, row: int) -> np.ndarray:
        """The samples of one recording, from −1 to 1."""
        return from_16_bits(self.samples[self.starts[row] : self.starts[row + 1]])


@dataclass(frozen=True)
class _Sound:
    samples: np.ndarray
    text: str
    speaker: str
    number: int
    name: str


def read_recordings(sounds: SoundFiles, rate: int) -> Recordings:
    """All sounds of a folder, an archive or a listing, whoever says them, by their names or line by line."""
    if sounds.listing is not None:
        found = list(_listed(file_of(sounds.listing), rate))
    else:
        found = list(_archived(file_of(sounds.name), sounds.name, rate))
        found.sort(key=lambda each: (each.text, each.speaker, each.number))
    if not found:
        called = "" if sounds.listing is not None else " called LABEL_SPEAKER_NUMBER.wav or .flac"
        raise Fault(f"{sounds.name} holds no sound{called}.")
    return Recordings(
        np.concatenate([each.samples for each in found]),
        np.cumsum([0, *(len(each.samples) for each in found)]),
        [each.text for each in found],
        [each.speaker for each in found],
        [each.number for each in found],
        [each.name for each in found],
    )


def _archived(path: Path, name: str, rate: int) -> Iterator[_Sound]:
    if not path.exists():
        raise Fault(f"There is no folder or archive {name}.")
    try:
        with naming_damage():
            for inner, stream in archive_members(path, MOST_BYTES):
                if match := _NAME.fullmatch(inner):
                    own = f"{inner} in {name}"
                    samples = to_16_bits(read_sound(stream.read(), rate, own))
                    yield _Sound(samples, match[1], match[2], int(match[3]), own)
    except Unusable as error:
        raise Fault(f"{name} {error}.") from None


def _listed(path: Path, rate: int) -> Iterator[_Sound]:
    for number, line in enumerate(read_lines(path)):
        file, *rest = line.split("\t")
        if not file or not 1 <= len(rest) <= 2 or not rest[0].strip():
            raise Fault(f"{path}, line {number + 1}: a line must hold a sound's file, a tab, what it says.")
        samples = to_16_bits(read_sound(path.parent / file, rate))
        speaker = rest[1].strip() if len(rest) == 2 else ""
        yield _Sound(samples, rest[0].strip(), speaker, number, str(path.parent / file))


def rows_of(recordings: Recordings, sounds: SoundFiles) -> list[int]:
    """The recordings that a recipe means by the speakers and the numbers that it names."""
    for speaker in (*sounds.speakers, *sounds.without):
        if speaker not in recordings.speakers:
            known = ", ".join(sorted(set(recordings.speakers)))
            raise Fault(f"Nobody called '{speaker}' speaks in {sounds.name}; there are {known}.")
    first, last = sounds.numbers or (0, max(recordings.numbers))
    rows = [
        row
        for row, (speaker, number) in enumerate(zip(recordings.speakers, recordings.numbers, strict=True))
        if (not sounds.speakers or speaker in sounds.speakers)
        and speaker not in sounds.without
        and first <= number <= last
    ]
    if not rows:
        raise Fault(f"{sounds.name} holds no sound of the speakers and the numbers that are asked for.")
    return rows
