"""Measure how a tokeniser spells text it was not trained on: words split into letters, and words it cannot write."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from regard.base.faults import Fault
from regard.data.tokenisers.tokeniser import Tokeniser

MEASURED = 20_000  # sentences of a side to examine
TOO_UNKNOWN = 0.5  # share of the words
FEWEST_LETTERS = 3  # in a word that counts as split into letters
_BYTE = re.compile("<0x[0-9A-F]{2}>")
_SPACE = "▁"


class Spelling(BaseModel):
    """Counts of a side's words: all, those spelled in single letters or bytes, those with unknown characters."""

    model_config = ConfigDict(frozen=True)

    words: int  # at least one
    apart: int
    unknown: int
    example: str = ""  # the first word with an unknown character

    def check(self, side: str) -> None:
        """Refuse text of which a tokeniser can write too little."""
        if self.unknown > TOO_UNKNOWN * self.words:
            raise Fault(
                f"{self.unknown / self.words:.0%} of the {side}'s words have characters for which the "
                f"tokeniser to start with has no token, such as {self.example!r}; train from scratch, with a "
                "new tokeniser."
            )


def spellings_line(spellings: Mapping[str, Spelling]) -> str:
    """Describe the spelling of a corpus's sides in a sentence."""
    apart = " and ".join(
        f"{side_spelling.apart / side_spelling.words:.1%} of the {side}'s" for side, side_spelling in spellings.items()
    )
    unknown = [
        f"{side_spelling.unknown / side_spelling.words:.1%} of the {side}'s have characters without a token, "
        f"such as {side_spelling.example!r}"
        for side, side_spelling in spellings.items()
        if side_spelling.unknown
    ]
    return "; ".join([f"the existing tokenisers spell {apart} words in single letters or bytes", *unknown])


class _Kinds(NamedTuple):
    """Tokens of a single letter or byte, and those of a single character of any kind."""

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
    """Return the number of each word, and its tokens."""
    by_number: dict[int, list[int]] = {}
    for token, number in zip(tokens, numbers, strict=True):
        if number >= 0:
            by_number.setdefault(number, []).append(token)
    return by_number.items()


def _word(text: str, number: int) -> str:
    words = text.split()
    return words[number] if number < len(words) else text


def _kinds(tokeniser: Tokeniser) -> _Kinds:
    """Return the single-character tokens; none if no token has several letters, since then nothing is split."""
    pieces = [piece.removeprefix(_SPACE) for piece in tokeniser.pieces(range(tokeniser.size))]
    bytes_ = {token for token, piece in enumerate(pieces) if _BYTE.fullmatch(piece)}
    silent = {tokeniser.pad, tokeniser.begin, tokeniser.end, tokeniser.unknown}
    text = {token: piece for token, piece in enumerate(pieces) if token not in bytes_ | silent}
    if all(len(piece) <= 1 for piece in text.values()):
        return _Kinds(frozenset(), frozenset())
    single = {token for token, piece in text.items() if len(piece) <= 1}
    # A Chinese or Japanese character is nearly a word.
    letters = {t for t in single if text[t].isalpha() and unicodedata.east_asian_width(text[t]) not in "WF"}
    return _Kinds(frozenset(letters | bytes_), frozenset(single | bytes_))
