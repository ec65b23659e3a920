"""Prepare sounds for training: memory-mapped arrays, and the files stored with a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field

from regard.base.faults import Fault
from regard.base.progress import Progress
from regard.data.prepared import (
    SPLITS,
    FinishedRecord,
    damaged,
    open_arrays,
    open_kept,
    prepare_once,
    refuse_missing,
    save_arrays,
)
from regard.data.sounds.files import HIGHEST_RATE, LOWEST_RATE
from regard.data.sounds.options import SoundData
from regard.data.sounds.recordings import Recordings, read_recordings, rows_of

ALPHABET_FILE = "alphabet.json"
MOST_SYMBOLS = 10_000


class Alphabet(BaseModel):
    """Facts stored with a model: its output symbols, how they join to text, and its sampling rate."""

    symbols: list[str] = Field(min_length=1, max_length=MOST_SYMBOLS)
    words: bool = False  # True if symbols are words, separated by spaces
    rate: int = Field(ge=LOWEST_RATE, le=HIGHEST_RATE)
    speakers: list[str] = []  # symbols that name speakers, if those are written too

    def refuse_others(self, others: "Alphabet") -> None:
        """Refuse to start from a model with this alphabet on sounds with another."""
        if others != self:
            raise Fault(
                f"The model to start from hears {self.rate:,} samples per second and writes "
                f"{' '.join(self.symbols[:20])}; this data has {others.rate:,}, and "
                f"{' '.join(others.symbols[:20])}."
            )

    def cut(self, text: str) -> list[str]:
        """Return the symbols that a text is written with."""
        return cut_text(text, self.words)

    def join(self, symbols: Sequence[str]) -> str:
        """Join symbols to a text; a speaker among them is named in words: "seven, said by jackson"."""
        spoken = [symbol for symbol in symbols if symbol not in self.speakers]
        speakers_named = dict.fromkeys(symbol for symbol in symbols if symbol in self.speakers)  # without repeats
        text = (" " if self.words else "").join(spoken)
        return f"{text}, said by {' and '.join(speakers_named)}" if speakers_named else text


class _Part(BaseModel):
    """Some recordings of a split: its name, and their rows among all recordings."""

    split: str
    name: str
    rows: list[int]


class _Finished(FinishedRecord):
    """Record of a preparation."""

    options: SoundData
    alphabet: Alphabet
    texts: list[str]
    speakers: list[str]
    numbers: list[int]
    names: list[str]
    parts: list[_Part]
    files: dict[str, str]


@dataclass(frozen=True)
class PreparedSounds:
    """All sounds of a recipe, and the rows of each part of each split."""

    options: SoundData
    alphabet: Alphabet
    recordings: Recordings
    parts: Mapping[str, Mapping[str, Sequence[int]]]  # by split and name
    report: list[str]

    def files(self) -> dict[str, bytes]:
        """Return the files to store in a model folder."""
        return {ALPHABET_FILE: self.alphabet.model_dump_json().encode()}


def cut_text(text: str, words: bool) -> list[str]:
    """Return the words of a text, or its letters, without surrounding spaces."""
    return text.split() if words else list(" ".join(text.split()))


def open_alphabet(files: Mapping[str, bytes], rate: int | None = None) -> Alphabet:
    """Read the alphabet from the untrusted files of a model folder; `rate` is that of the recipe."""
    alphabet = open_kept(Alphabet, files, ALPHABET_FILE)
    if rate not in (None, alphabet.rate):
        raise damaged(ALPHABET_FILE)
    return alphabet


def check_sounds_there(options: SoundData, folder: Path | None) -> None:
    """Refuse sounds with a missing file, unless they lie prepared in `folder`."""
    names = (sounds.name for split in SPLITS for sounds in getattr(options, split))
    refuse_missing(names, folder, may_be_folders=True)


def prepare_sounds(options: SoundData, folder: Path, progress: Progress) -> PreparedSounds:
    """Return the sounds that `options` name, from `folder` if they were prepared there before."""
    finished = prepare_once(
        _Finished, folder, lambda record: record.options == options, lambda: _prepare(options, folder, progress)
    )
    samples, starts = open_arrays(folder, "samples", "starts")
    recordings = Recordings(samples, starts, finished.texts, finished.speakers, finished.numbers, finished.names)
    parts: dict[str, dict[str, Sequence[int]]] = {}
    for part in finished.parts:
        parts.setdefault(part.split, {})[part.name] = part.rows
    sizes = ", ".join(f"{sum(map(len, of_split.values())):,} {split}" for split, of_split in parts.items())
    minutes, symbols = len(samples) / options.rate / 60, len(finished.alphabet.symbols)
    report = [f"{sizes} sounds, {minutes:.1f} minutes, {symbols} symbols"]
    return PreparedSounds(options, finished.alphabet, recordings, parts, report)


def _prepare(options: SoundData, folder: Path, progress: Progress) -> _Finished:
    files_of_split = {split: list(getattr(options, split)) for split in SPLITS}
    # Several parts often use sounds from one place, which is read once.
    sources = {sounds.name: sounds for of_split in files_of_split.values() for sounds in of_split}
    recordings_by_name: dict[str, Recordings] = {}
    firsts: dict[str, int] = {}
    for number, (name, sounds) in enumerate(sources.items()):
        progress("reading sounds", number, len(sources))
        firsts[name] = sum(map(len, recordings_by_name.values()))
        recordings_by_name[name] = read_recordings(sounds, options.rate)
    progress("reading sounds", len(sources), len(sources))
    parts = [
        _Part(
            split=split,
            name=sounds.part or sounds.name,
            rows=[firsts[sounds.name] + row for row in rows_of(recordings_by_name[sounds.name], sounds)],
        )
        for split, of_split in files_of_split.items()
        for sounds in of_split
    ]
    _refuse_twins(parts)
    speakers = [speaker for recordings in recordings_by_name.values() for speaker in recordings.speakers]
    spoken = [text for recordings in recordings_by_name.values() for text in recordings.texts]
    texts = [options.written(text, speaker) for text, speaker in zip(spoken, speakers, strict=True)]
    names = [name for recordings in recordings_by_name.values() for name in recordings.names]
    alphabet = _alphabet_of(options, texts, names, parts)
    if options.who:
        learnt = [row for part in parts if part.split == "train" for row in part.rows]
        alphabet = _with_speakers(alphabet, [spoken[row] for row in learnt], {speakers[row] for row in learnt})
    lengths = np.concatenate([np.diff(recordings.starts) for recordings in recordings_by_name.values()])
    arrays = {
        "samples.npy": np.concatenate([recordings.samples for recordings in recordings_by_name.values()]),
        "starts.npy": np.cumsum([0, *lengths]),
    }
    return _Finished(
        options=options,
        alphabet=alphabet,
        texts=texts,
        speakers=speakers,
        numbers=[number for recordings in recordings_by_name.values() for number in recordings.numbers],
        names=names,
        parts=parts,
        files=save_arrays(folder, arrays),
    )


def _refuse_twins(parts: list[_Part]) -> None:
    """Refuse two parts with one name, and recordings in both training and evaluation."""
    learnt = {row for part in parts if part.split == "train" for row in part.rows}
    names: set[tuple[str, str]] = set()
    for part in parts:
        if (part.split, part.name) in names:
            raise Fault(f"Two parts of the {part.split} data are named '{part.name}'; name them with 'part'.")
        names.add((part.split, part.name))
        if part.split != "train" and (shared := len(learnt.intersection(part.rows))):
            raise Fault(f"{shared:,} sounds of the {part.split} data are also in the training data.")


def _alphabet_of(options: SoundData, texts: list[str], names: list[str], parts: list[_Part]) -> Alphabet:
    """Return the symbols of the training sounds; refuse other data with other symbols."""
    words = options.units == "words"
    learnt = [row for part in parts if part.split == "train" for row in part.rows]
    symbols = {symbol for row in learnt for symbol in cut_text(texts[row], words)}
    for split, row in ((part.split, row) for part in parts for row in part.rows):
        if unknown := next((symbol for symbol in cut_text(texts[row], words) if symbol not in symbols), None):
            raise Fault(
                f"{names[row]}, of the {split} data, has the label '{unknown}', which is not in the alphabet: "
                "no training sound has it."
            )
    if len(symbols) > MOST_SYMBOLS:
        raise Fault(f"The training sounds have {len(symbols):,} symbols, but the limit is {MOST_SYMBOLS:,}.")
    return Alphabet(symbols=sorted(symbols), words=words, rate=options.rate)


def _with_speakers(alphabet: Alphabet, texts: list[str], speakers: set[str]) -> Alphabet:
    """Return the alphabet with the speakers; refuse names that are not one word, or that are also spoken."""
    spoken = {word for text in texts for word in text.split()}
    if unusable := sorted(name for name in speakers if len(name.split()) != 1 or name in spoken):
        raise Fault(
            f"'{unusable[0]}' cannot be written after the text: data.who needs speakers' names of one word each."
        )
    return alphabet.model_copy(update={"speakers": sorted(speakers)})
