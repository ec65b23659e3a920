"""Recordings: all samples in one array, and the text, speaker and number of each."""

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

MOST_BYTES = 2**33  # in all files of an archive
_NAME = re.compile(r"(?:.*/)?([^_/]+)_([^_/]+)_(\d{1,9})\.(?:wav|flac)", re.IGNORECASE)


@dataclass(frozen=True)
class Recordings:
    """16-bit `samples` of all recordings; recording n has those from starts[n] up to, but not including, starts[n + 1].

    Also the text of each, its speaker ("" if unknown), its number among those with the same text, and its file name.
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
        """Return the samples of one recording, from −1 to 1."""
        return from_16_bits(self.samples[self.starts[row] : self.starts[row + 1]])


@dataclass(frozen=True)
class _Sound:
    samples: np.ndarray
    text: str
    speaker: str
    number: int
    name: str


def read_recordings(sounds: SoundFiles, rate: int) -> Recordings:
    """Read all sounds of a folder, an archive or a listing, for all speakers, by name or line by line."""
    if sounds.listing is not None:
        sounds_found = list(_listed(file_of(sounds.listing), rate))
    else:
        sounds_found = list(_archived(file_of(sounds.name), sounds.name, rate))
        sounds_found.sort(key=lambda sound: (sound.text, sound.speaker, sound.number))
    if not sounds_found:
        naming = "" if sounds.listing is not None else " named LABEL_SPEAKER_NUMBER.wav or .flac"
        raise Fault(f"{sounds.name} holds no sound{naming}.")
    return Recordings(
        np.concatenate([sound.samples for sound in sounds_found]),
        np.cumsum([0, *(len(sound.samples) for sound in sounds_found)]),
        [sound.text for sound in sounds_found],
        [sound.speaker for sound in sounds_found],
        [sound.number for sound in sounds_found],
        [sound.name for sound in sounds_found],
    )


def _archived(path: Path, name: str, rate: int) -> Iterator[_Sound]:
    if not path.exists():
        raise Fault(f"There is no folder or archive {name}.")
    try:
        with naming_damage():
            for inner, stream in archive_members(path, MOST_BYTES):
                if match := _NAME.fullmatch(inner):
                    sound_name = f"{inner} in {name}"
                    samples = to_16_bits(read_sound(stream.read(), rate, sound_name))
                    yield _Sound(samples, match[1], match[2], int(match[3]), sound_name)
    except Unusable as error:
        raise Fault(f"{name} {error}.") from None


def _listed(path: Path, rate: int) -> Iterator[_Sound]:
    for number, line in enumerate(read_lines(path)):
        file, *rest = line.split("\t")
        if len(rest) > 2:
            raise Fault(
                f"{path}, line {number + 1}: there are {len(rest) + 1} fields, but a line holds a sound's file, "
                "its text and at most a speaker, with tabs between them."
            )
        if not file or not rest or not rest[0].strip():
            raise Fault(f"{path}, line {number + 1}: a line must hold a sound's file, a tab, and its text.")
        try:
            samples = to_16_bits(read_sound(path.parent / file, rate))
        except Fault as fault:
            raise Fault(f"{path}, line {number + 1}: {fault}") from None
        speaker = rest[1].strip() if len(rest) == 2 else ""
        yield _Sound(samples, rest[0].strip(), speaker, number, str(path.parent / file))


def rows_of(recordings: Recordings, sounds: SoundFiles) -> list[int]:
    """Return the recordings of the speakers and numbers that a recipe names."""
    for speaker in (*sounds.speakers, *sounds.without):
        if speaker not in recordings.speakers:
            speakers = ", ".join(sorted(set(recordings.speakers)))
            raise Fault(f"No speaker in {sounds.name} is named '{speaker}'; there are {speakers}.")
    first, last = sounds.numbers or (0, max(recordings.numbers))
    rows = [
        row
        for row, (speaker, number) in enumerate(zip(recordings.speakers, recordings.numbers, strict=True))
        if (not sounds.speakers or speaker in sounds.speakers)
        and speaker not in sounds.without
        and first <= number <= last
    ]
    if not rows:
        raise Fault(f"{sounds.name} holds no sound of these speakers and numbers.")
    return rows
