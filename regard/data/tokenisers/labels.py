"""Labels of tokens on an axis: whole words with separate punctuation, or single tokens."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from regard.data.tokenisers.tokeniser import Tokeniser
from regard.data.tokenisers.wordpiece import WordPieceTokeniser

_BYTE = re.compile("<0x([0-9A-F]{2})>")
_LONGEST_CHARACTER = 4  # bytes in UTF-8
_BROKEN = "\ufffd"  # replaces bytes that are not a character
_UNSPACED = ("CJK", "IDEOGRAPHIC", "FULLWIDTH", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")


class Labels(NamedTuple):
    """Labels of an axis, and for each token the label it belongs to."""

    texts: list[str]
    places: list[int]


class _Unit(NamedTuple):
    """Some text within a word, and the number of tokens that wrote it."""

    text: str
    tokens: int


def labels(tokeniser: Tokeniser, tokens: Sequence[int], by_word: bool) -> Labels:
    """Return a label for each word, its surrounding punctuation, begin and end; or one for each token."""
    pieces = tokeniser.pieces(tokens)
    if not by_word:
        return Labels(pieces, list(range(len(pieces))))
    if isinstance(tokeniser, WordPieceTokeniser):
        pieces = [tokeniser.spelling(token) for token in tokens]
    texts: list[str] = []
    places: list[int] = []
    for word, group in groupby(zip(tokeniser.words(tokens), pieces, strict=True), key=itemgetter(0)):
        units = list(_units(piece for _, piece in group))
        for part in _parts(units) if word >= 0 else [[unit] for unit in units]:
            places += [len(texts)] * sum(unit.tokens for unit in part)
            texts.append("".join(unit.text for unit in part))
    return Labels(texts, places)


def is_spelled_word(tokeniser: Tokeniser, tokens: Sequence[int]) -> bool:
    """Return True if the tokens are a single word written letter by letter."""
    return tokeniser.spells and max(tokeniser.words(tokens), default=0) <= 0


def _units(pieces: Iterable[str]) -> Iterator[_Unit]:
    """Yield the text of each token, or of as many as make whole characters; a bare space joins what follows."""
    bare, spelled, spelling = 0, b"", 0  # space tokens; bytes of an incomplete character, and their tokens
    for piece in pieces:
        text = piece.replace("▁", "")
        if _BYTE.search(text):
            spelled, spelling = spelled + _bytes_of(text), spelling + 1
            characters = spelled.decode(errors="replace")
            if not characters.endswith(_BROKEN) or len(spelled) >= _LONGEST_CHARACTER:
                yield _Unit(characters, spelling + bare)
                bare, spelled, spelling = 0, b"", 0
            continue
        if spelled:
            yield _Unit(spelled.decode(errors="replace"), spelling + bare)
            bare, spelled, spelling = 0, b"", 0
        if text:
            yield _Unit(text, 1 + bare)
            bare = 0
        else:
            bare += 1
    if bare or spelled:
        yield _Unit(spelled.decode(errors="replace"), spelling + bare)


def _bytes_of(piece: str) -> bytes:
    """Return the bytes of a piece in which some are written as <0xC3>."""
    parts = _BYTE.split(piece)  # text and, at every second place, the two digits of a byte
    return b"".join(bytes.fromhex(part) if place % 2 else part.encode() for place, part in enumerate(parts))


def _parts(units: list[_Unit]) -> Iterator[list[_Unit]]:
    """Yield a word and its leading and trailing punctuation separately; punctuation alone is a word."""
    inner = [place for place, unit in enumerate(units) if not _is_punctuation(unit.text)] or [len(units)]
    first, after = inner[0], inner[-1] + 1
    part: list[_Unit] = []
    for place, unit in enumerate(units):
        if part and (place in (first, after) or is_unspaced(unit.text) or is_unspaced(part[-1].text)):
            yield part
            part = []
        part.append(unit)
    yield part


def _is_punctuation(text: str) -> bool:
    return bool(text) and all(unicodedata.category(character).startswith("P") for character in text)


def is_unspaced(text: str) -> bool:
    """Return True for a script without spaces between words, where a token is closest to a word."""
    return unicodedata.name(text[:1] or " ", "").startswith(_UNSPACED)
