"""Sounds made ready for training: arrays that open at once, and what travels with a model."""

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
    """Facts that travel with a model: the symbols it writes, how they join to text, and its sampling rate."""

    symbols: list[str] = Field(min_length=1, max_length=MOST_SYMBOLS)
    words: bool = False  # whether symbols are words, which spaces stand between
    rate: int = Field(ge=LOWEST_RATE, le=HIGHEST_RATE)
    speakers: list[str] = []  # the symbols that say who speaks, where that is written too

    def refuse_others(self, others: "Alphabet") -> None:
        """Refuse to go on from a model of this alphabet with sounds of another."""
        if others != self:
            raise Fault(
                f"The model to start from hears {self.rate:,} samples a second and writes"
                f" {' '.join(self.symbols[:20])}; here there are {others.rate:,}, and {' '.join(others.symbols[:20])}."
            )

    def cut(self, text: str) -> list[str]:
        """The symbols that a text is written with."""
        return cut_text(text, self.words)

    def join(self, symbols: Sequence[str]) -> str:
        """Symbols as a text; who speaks, where that is among them, in words: "seven, said by jackson"."""
        said = [symbol for symbol in symbols if symbol not in self.speakers]
        named = dict.fromkeys(symbol for symbol in symbols if symbol in self.speakers)  # each once
        text = (" " if self.words else "").join(said)
        return f"{text}, said by {' and '.join(named)}" if named else text


class _Part(BaseModel):
    """Some recordings of a split: its name, and the rows that they have among all recordings."""

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
        """Return its files for a model folder."""
        return {ALPHABET_FILE: self.alphabet.model_dump_json().encode()}


def cut_text(text: str, words: bool) -> list[str]:
    """The words of a text, or its letters; spaces around it are none."""
    return text.split() if words else list(" ".join(text.split()))


def open_alphabet(files: Mapping[str, bytes], rate: int | None = None) -> Alphabet:
    """Return the alphabet in the files of a model folder, which need not be trusted; its recipe tells the rate."""
    alphabet = open_kept(Alphabet, files, ALPHABET_FILE)
    if rate not in (None, alphabet.rate):
        raise damaged(ALPHABET_FILE)
    return alphabet


def check_sounds_there(options: SoundData, folder: Path | None) -> None:
    """Refuse sounds of which a file is missing, unless they lie prepared in `folder`."""
    names = (sounds.name for split in SPLITS for sounds in getattr(options, split))
    refuse_missing(names, folder, may_be_folders=True)


def prepare_sounds(options: SoundData, folder: Path, progress: Progress) -> PreparedSounds:
    """The sounds that `options` name, from `folder` if they were prepared there before."""
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
    given = {split: list(getattr(options, split)) for split in SPLITS}
    # Several parts often take their sounds from one place, which is read once.
    sources = {sounds.name: sounds for of_split in given.values() for sounds in of_split}
    read: dict[str, Recordings] = {}
    firsts: dict[str, int] = {}
    for number, (name, sounds) in enumerate(sources.items()):
        progress("reading sounds", number, len(sources))
        firsts[name] = sum(map(len, read.values()))
        read[name] = read_recordings(sounds, options.rate)
    progress("reading sounds", len(sources), len(sources))
    parts = [
        _Part(
            split=split,
            name=sounds.part or sounds.name,
            rows=[firsts[sounds.name] + row for row in rows_of(read[sounds.name], sounds)],
        )
        for split, of_split in given.items()
        for sounds in of_split
    ]
    _refuse_twins(parts)
    speakers = [speaker for each in read.values() for speaker in each.speakers]
    said = [text for each in read.values() for text in each.texts]
    texts = [options.written(text, speaker) for text, speaker in zip(said, speakers, strict=True)]
    names = [name for each in read.values() for name in each.names]
    alphabet = _alphabet_of(options, texts, names, parts)
    if options.who:
        learnt = [row for part in parts if part.split == "train" for row in part.rows]
        alphabet = _with_speakers(alphabet, [said[row] for row in learnt], {speakers[row] for row in learnt})
    lengths = np.concatenate([np.diff(each.starts) for each in read.values()])
    arrays = {
        "samples.npy": np.concatenate([each.samples for each in read.values()]),
        "starts.npy": np.cumsum([0, *lengths]),
    }
    return _Finished(
        options=options,
        alphabet=alphabet,
        texts=texts,
        speakers=speakers,
        numbers=[number for each in read.values() for number in each.numbers],
        names=names,
        parts=parts,
        files=save_arrays(folder, arrays),
    )


def _refuse_twins(parts: list[_Part]) -> None:
    """Refuse two parts of one name, and recordings that are learnt from and measured as well."""
    learnt = {row for part in parts if part.split == "train" for row in part.rows}
    names: set[tuple[str, str]] = set()
    for part in parts:
        if (part.split, part.name) in names:
            raise Fault(f"Two parts of the {part.split} data are called '{part.name}'; give them names by 'part'.")
        names.add((part.split, part.name))
        if part.split != "train" and (shared := len(learnt.intersection(part.rows))):
            raise Fault(f"{shared:,} sounds of the {part.split} data are among those to learn from.")


def _alphabet_of(options: SoundData, texts: list[str], names: list[str], parts: list[_Part]) -> Alphabet:
    """The symbols of what is said in the sounds to learn from; other data must not have others."""
    words = options.units == "words"
    learnt = [row for part in parts if part.split == "train" for row in part.rows]
    known = {symbol for row in learnt for symbol in cut_text(texts[row], words)}
    for split, row in ((part.split, row) for part in parts for row in part.rows):
        if unknown := next((symbol for symbol in cut_text(texts[row], words) if symbol not in known), None):
            raise Fault(
                f"{names[row]}, of the {split} data, has the label '{unknown}', which is not in the alphabet: no"
                " sound to learn from has it."
            )
    if len(known) > MOST_SYMBOLS:
        raise Fault(f"The sounds to learn from have {len(known):,} symbols, but the limit is {MOST_SYMBOLS:,}.")
    return Alphabet(symbols=sorted(known), words=words, rate=options.rate)


def _with_speakers(alphabet: Alphabet, texts: list[str], speakers: set[str]) -> Alphabet:
    """Return the alphabet with the speakers; none may be unnamed, or named like a word that is said."""
    spoken = {word for text in texts for word in text.split()}
    if unusable := sorted(name for name in speakers if len(name.split()) != 1 or name in spoken):
        raise Fault(f"'{unusable[0]}' cannot be written behind what is said: data.who needs names of one word each.")
    return alphabet.model_copy(update={"speakers": sorted(speakers)})
