"""The lexicon of a tagger: words, their letters and capitals, and the tags.

It is made from the training sentences and stored in the model folder.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Self

import numpy as np
from pydantic import BaseModel, Field, model_validator

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.data.prepared import open_kept
from regard.data.tagging.files import TaggedSentence
from regard.data.tagging.options import TaggingData
from regard.data.tokenisers.tokeniser import Tokeniser

LEXICON_FILE = "lexicon.json"
PAD, UNKNOWN = 0, 1  # for words, letters and column values; known ones follow
BEGIN_LETTER, END_LETTER = 2, 3
_KNOWN_FROM, _LETTERS_FROM = 2, 4
NO_PIECE = -1
LONGEST_WORD = 32  # letters read; of a longer word, the first and the last half of them
_MOST_TAGS = 10_000
_DIGIT = re.compile(r"\d")

# How a word is written, regardless of its letters; 0 is padding.
SHAPES = ("padding", "small", "Capital", "CAPITALS", "mIxed", "digits", "digits and more", "no letter")


class Lexicon(BaseModel, frozen=True):
    """Words, letters, column values and tags, each with the most frequent first."""

    words: list[str]
    letters: list[str]
    columns: list[list[str]]
    tags: list[str] = Field(min_length=1, max_length=_MOST_TAGS)
    fold_case: bool
    fold_digits: bool

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        for name, values in (("words", self.words), ("letters", self.letters), ("tags", self.tags)):
            if len(set(values)) != len(values):
                raise ValueError(f"some of its {name} occur twice")
        return self

    @cached_property
    def _word_numbers(self) -> dict[str, int]:
        return _numbers(self.words, _KNOWN_FROM)

    @cached_property
    def _letter_numbers(self) -> dict[str, int]:
        return _numbers(self.letters, _LETTERS_FROM)

    @cached_property
    def _column_numbers(self) -> list[dict[str, int]]:
        return [_numbers(values, _KNOWN_FROM) for values in self.columns]

    @cached_property
    def tag_numbers(self) -> dict[str, int]:
        """Number of each tag."""
        return _numbers(self.tags, 0)

    @property
    def word_count(self) -> int:
        """Number of word numbers, including padding and unknown words."""
        return len(self.words) + _KNOWN_FROM

    @property
    def letter_count(self) -> int:
        return len(self.letters) + _LETTERS_FROM

    @property
    def column_counts(self) -> list[int]:
        return [len(values) + _KNOWN_FROM for values in self.columns]

    def folded(self, word: str) -> str:
        """Return a word in the form in which it is looked up."""
        word = word.lower() if self.fold_case else word
        return _DIGIT.sub("0", word) if self.fold_digits else word

    def word_number(self, word: str) -> int:
        return self._word_numbers.get(self.folded(word), UNKNOWN)

    def column_numbers(self, column: int, values: Sequence[str]) -> list[int]:
        numbers = self._column_numbers[column]
        return [numbers.get(value, UNKNOWN) for value in values]

    def spell(self, word: str) -> list[int]:
        """Return the letters of a word between a begin and an end mark."""
        if len(word) > LONGEST_WORD:
            word = word[: LONGEST_WORD // 2] + word[-(LONGEST_WORD // 2) :]
        numbers = self._letter_numbers
        return [BEGIN_LETTER, *(numbers.get(letter, UNKNOWN) for letter in word), END_LETTER]

    def files(self) -> dict[str, bytes]:
        """Return the files to store in a model folder."""
        return {LEXICON_FILE: self.model_dump_json(indent=0).encode()}


def shape_of(word: str) -> int:
    """Return how a word is written, as an index into SHAPES."""
    has_digit = any(letter.isdigit() for letter in word)
    cased = [letter for letter in word if letter.isupper() or letter.islower()]
    if has_digit:
        return SHAPES.index("digits and more" if any(map(str.isalpha, word)) else "digits")
    if not cased:
        return SHAPES.index("small" if any(map(str.isalpha, word)) else "no letter")
    if all(map(str.islower, cased)):
        return SHAPES.index("small")
    if cased[0].isupper() and all(map(str.islower, cased[1:])):
        return SHAPES.index("Capital")
    return SHAPES.index("CAPITALS" if all(map(str.isupper, cased)) else "mIxed")


def _numbers(values: Sequence[str], first: int) -> dict[str, int]:
    return {value: number for number, value in enumerate(values, first)}


def make_lexicon(sentences: Iterable[TaggedSentence], options: TaggingData) -> Lexicon:
    """Build the lexicon of training sentences."""
    forms: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    columns: list[Counter[str]] = [Counter() for _ in options.read_beside]
    for sentence in sentences:
        forms.update(sentence.words)
        tags.update(sentence.tags)
        for counter, values in zip(columns, sentence.columns, strict=True):
            counter.update(values)
    empty = Lexicon(
        words=[],
        letters=_by_frequency(_letters(forms)),
        columns=[_by_frequency(counter) for counter in columns],
        tags=_by_frequency(tags),
        fold_case=options.fold_case,
        fold_digits=options.fold_digits,
    )
    folded: Counter[str] = Counter()
    for form, count in forms.items():
        folded[empty.folded(form)] += count
    words = [word for word in _by_frequency(folded) if folded[word] >= options.at_least]
    return empty.model_copy(update={"words": words})


def _letters(forms: Counter[str]) -> Counter[str]:
    letters: Counter[str] = Counter()
    for form, count in forms.items():
        for letter in form:
            letters[letter] += count
    return letters


def _by_frequency(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda value: (-counts[value], value))


def open_lexicon(files: Mapping[str, bytes], columns: int) -> Lexicon:
    """Read the lexicon from the untrusted files of a model folder."""
    lexicon = open_kept(Lexicon, files, LEXICON_FILE)
    if len(lexicon.columns) != columns:
        raise Fault(
            f"{LEXICON_FILE} of the model folder has {quantity(len(lexicon.columns), 'column')}, but its "
            f"recipe has {columns}."
        )
    return lexicon


class FormTable:
    """Distinct words with everything that is read of each: number, shape, letters, and tokens if there are any.

    The tokens of a word are padded with `NO_PIECE`; a word without tokens is unknown.
    """

    def __init__(self, forms: Sequence[str], lexicon: Lexicon, tokeniser: Tokeniser | None = None) -> None:
        self.words = np.array([lexicon.word_number(form) for form in forms], np.int64)
        self.shapes = np.array([shape_of(form) for form in forms], np.int64)
        spellings = [lexicon.spell(form) for form in forms]
        self.lengths = np.array([len(letters) for letters in spellings], np.int64)
        self.letters = np.full((len(forms), max(map(len, spellings), default=0)), PAD, np.int64)
        for row, letters in zip(self.letters, spellings, strict=True):
            row[: len(letters)] = letters
        self.pad = 0 if tokeniser is None else tokeniser.pad
        tokenised = (
            []
            if tokeniser is None
            else [word_tokens or [tokeniser.unknown] for word_tokens in tokeniser.encode_all(list(forms))]
        )
        self.pieces = np.full((len(forms), max(map(len, tokenised), default=0)), NO_PIECE, np.int64)
        for row, tokens in zip(self.pieces, tokenised, strict=False):
            row[: len(tokens)] = tokens
