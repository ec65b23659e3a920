"""Spelling of texts to speak, and the voices that can speak them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from regard.base.faults import Fault
from regard.data.prepared import damaged, open_kept
from regard.data.sounds.files import HIGHEST_RATE, LOWEST_RATE
from regard.data.sounds.prepare import MOST_SYMBOLS, PreparedSounds

VOICES_FILE = "voices.json"
LONGEST_TEXT = 500  # symbols
PAD, END, SPACE = 0, 1, 2  # the first symbols: padding, end of text, space between words
_NAMES = {END: "end", SPACE: " "}


@dataclass(frozen=True)
class SpelledText:
    """A text as symbol numbers, ending with END; its words, and for each symbol the place of its word.

    A space belongs to the word after it, and the end is a word of its own.
    """

    symbols: list[int]
    words: list[str]
    places: list[int]


class Voices(BaseModel):
    """Facts stored with a model: its symbols, words with a different spelling, its speakers, and the rate."""

    symbols: list[str] = Field(min_length=3, max_length=MOST_SYMBOLS)
    spelling: dict[str, str] = {}
    speakers: list[str] = Field(min_length=1, max_length=100_000)
    rate: int = Field(ge=LOWEST_RATE, le=HIGHEST_RATE)

    def spell(self, text: str) -> SpelledText:
        """Return a text in symbols; refuse one that cannot be spoken."""
        words = text.split()
        if not words:
            raise Fault("There is nothing to speak: the text is empty.")
        symbols: list[int] = []
        places: list[int] = []
        numbers = {symbol: number for number, symbol in enumerate(self.symbols)}
        for place, word in enumerate(words):
            letters = self.spelling.get(word, word)
            if unknown := next((letter for letter in letters if numbers.get(letter, PAD) <= SPACE), None):
                raise Fault(
                    f"'{word}' cannot be spoken: {self._unspelled}'{unknown}' is not among the letters {self.letters}."
                )
            word_symbols = [*([SPACE] if place else []), *(numbers[letter] for letter in letters)]
            symbols += word_symbols
            places += [place] * len(word_symbols)
        if len(symbols) > LONGEST_TEXT:
            raise Fault(f"The text has {len(symbols):,} symbols to speak, but the limit is {LONGEST_TEXT}.")
        return SpelledText([*symbols, END], [*words, _NAMES[END]], [*places, len(words)])

    @property
    def letters(self) -> str:
        """All letters it can speak."""
        return " ".join(self.symbols[SPACE + 1 :])

    @property
    def _unspelled(self) -> str:
        return f"it is not among the words {', '.join(self.spelling)}, and " if self.spelling else ""

    def symbol_names(self, symbols: Sequence[int]) -> list[str]:
        """Return the name of each symbol, for people."""
        return [_NAMES.get(symbol, self.symbols[symbol]) for symbol in symbols]

    def speaker_number(self, name: str | None) -> int:
        """Return the number of a speaker; the first if no name is given."""
        if name is None:
            return 0
        if name not in self.speakers:
            raise Fault(f"No speaker is named '{name}'; this model can speak as {', '.join(self.speakers)}.")
        return self.speakers.index(name)

    def refuse_others(self, others: "Voices") -> None:
        """Refuse to start from a model with these voices on sounds with others."""
        if others != self:
            raise Fault("The model to start from has other symbols, other speakers or another rate than these sounds.")

    def as_file(self) -> dict[str, bytes]:
        """Return the file to store in a model folder."""
        return {VOICES_FILE: self.model_dump_json().encode()}


def voices_of(prepared: PreparedSounds) -> Voices:
    """Return the voices of the training sounds; refuse other data with other symbols or speakers."""
    recordings, rows = prepared.recordings, {split: _rows(prepared, split) for split in prepared.parts}
    letters = sorted({letter for row in rows["train"] for letter in recordings.texts[row]} - {" "})
    speakers = sorted({recordings.speakers[row] for row in rows["train"]})
    voices = Voices(
        symbols=["", "end", " ", *letters],
        spelling={word: spelled for word, spelled in prepared.options.spelling.items() if set(spelled) <= set(letters)},
        speakers=speakers,
        rate=prepared.options.rate,
    )
    for split, of_split in rows.items():
        for row in of_split:
            voices.spell(recordings.texts[row])
            if recordings.speakers[row] not in speakers:
                raise Fault(
                    f"'{recordings.speakers[row]}' speaks only in the {split} data; a model cannot learn a "
                    "speaker who is not in the training data."
                )
    return voices


def _rows(prepared: PreparedSounds, split: str) -> list[int]:
    return [row for rows in prepared.parts[split].values() for row in rows]


def open_voices(files: Mapping[str, bytes], rate: int | None = None) -> Voices:
    """Read the voices from the untrusted files of a model folder; `rate` is that of the recipe."""
    voices = open_kept(Voices, files, VOICES_FILE)
    if rate not in (None, voices.rate):
        raise damaged(VOICES_FILE)
    return voices
