"""Spelling of text that a tokeniser was not trained on: words it takes apart, and words it cannot write."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from regard.base.faults import Fault
from regard.data.tokenisers.tokeniser import Tokeniser

MEASURED = 20_000  # sentences of a side that are looked at
TOO_UNKNOWN = 0.5  # of the words
FEWEST_LETTERS = 3  # of a word that counts as taken apart
_BYTE = re.compile("<0x[0-9A-F]{2}>")
_SPACE = "▁"


class Spelling(BaseModel):
    """The words of a side: how many there are, are spelled in single letters or bytes, have unknown characters."""

    model_config = ConfigDict(frozen=True)

    words: int  # at least one
    apart: int
    unknown: int
    example: str = ""  # the first word with an unknown character

    def check(self, side: str) -> None:
        """Refuse text of which a tokeniser can write too little to learn it."""
        if self.unknown > TOO_UNKNOWN * self.words:
            raise Fault(
                f"{self.unknown / self.words:.0%} of the {side}'s words have characters for which the tokeniser to "
                f"start with has no token, as {self.example!r}; begin from nothing, with a tokeniser of its own."
            )


def spellings_line(spellings: Mapping[str, Spelling]) -> str:
    """Describe the spelling of a corpus's sides in a sentence."""
    apart = " and ".join(f"{own.apart / own.words:.1%} of the {side}'s" for side, own in spellings.items())
    unknown = [
        f"{own.unknown / own.words:.1%} of the {side}'s have characters without a token, as {own.example!r}"
        for side, own in spellings.items()
        if own.unknown
    ]
    return "; ".join([f"the tokenisers it starts with spell {apart} words in single letters or bytes", *unknown])


class _Kinds(NamedTuple):
    """The tokens of a single letter or byte, and those of a single character of any kind."""

    letters: frozenset[int]
    single: frozenset[int]


def spelling(tokeniser: Tokeniser, texts: Sequence[str]) -> Spelling:
    """Return how the tokeniser spells the words of these texts."""
    kinds = _kinds(tokeniser)
    words = apart = unknown = 0
    example = ""
    for text, tokens in zip(texts, tokeniser.encode_all(list(texts)), strict=True):
        for number, word in _by_word(tokens, tokeniser.words(tokens)):
            words += 1
            if tokeniser.unknown in word:
                unknown += 1
                example = example or _word(text, number)
            elif kinds.single.issuperset(word) and sum(token in kinds.letters for token in word) >= FEWEST_LETTERS:
                apart += 1
    return Spelling(words=max(words, 1), apart=apart, unknown=unknown, example=example)


def _by_word(tokens: Sequence[int], numbers: Sequence[int]) -> Iterable[tuple[int, list[int]]]:
    """The number of each word, and its tokens."""
    found: dict[int, list[int]] = {}
    for token, number in zip(tokens, numbers, strict=True):
        if number >= 0:
            found.setdefault(number, []).append(token)
    return found.items()


def _word(text: str, number: int) -> str:
    words = text.split()
    return words[number] if number < len(words) else text


def _kinds(tokeniser: Tokeniser) -> _Kinds:
    """Which tokens are single; none are where no token has several letters, for then nothing is taken apart."""
    pieces = [piece.removeprefix(_SPACE) for piece in tokeniser.pieces(range(tokeniser.size))]
    bytes_ = {token for token, piece in enumerate(pieces) if _BYTE.fullmatch(piece)}
    silent = {tokeniser.pad, tokeniser.begin, tokeniser.end, tokeniser.unknown}
    text = {token: piece for token, piece in enumerate(pieces) if token not in bytes_ | silent}
    if all(len(piece) <= 1 for piece in text.values()):
        return _Kinds(frozenset(), frozenset())
    single = {token for token, piece in text.items() if len(piece) <= 1}
    # A Chinese or Japanese character is a word, or near it.
    letters = {t for t in single if text[t].isalpha() and unicodedata.east_asian_width(text[t]) not in "WF"}
    return _Kinds(frozenset(letters | bytes_), frozenset(single | bytes_))
