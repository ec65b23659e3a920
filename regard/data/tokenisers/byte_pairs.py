"""Byte-level byte-pair encoding as in GPT-2 (Radford et al. 2019, section 2.2; Sennrich et al. 2016).

A text is split into words with the space before them, numbers, marks and runs of white space. The bytes of each part
are joined pair by pair, in the order in which the pairs were learnt. Nothing is unknown, and decoding restores the text
exactly. The words of a vocabulary write each byte as a character: a printable one as itself, the others as characters
from U+0100 on.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise

import regex
from pydantic import BaseModel, ConfigDict, ValidationError

from regard.data.tokenisers.symbols import join_fragments, whole_characters, word_numbers

_PART = regex.compile(r"'(?:[stmd]|re|ve|ll)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
_CACHED = 2**17  # parts of text to cache
_FIRST_ESCAPED = 0xDC80 - 0x80  # code points that Python uses for invalid bytes
NO_TOKEN = -1  # nothing is unknown

Pair = tuple[str, str]


@cache
def byte_symbols() -> tuple[str, ...]:
    """Return the character that stands for each byte in the words of a vocabulary."""
    printable = {*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in printable else next(others)) for byte in range(0x100))


class StoredBytePairs(BaseModel):
    """A tokeniser as stored in a model folder: its words by number, and the pairs in merge order."""

    model_config = ConfigDict(strict=True, extra="forbid")

    words: list[str]
    pairs: list[list[str]]
    end: int
    silent: list[int] = []  # further tokens without text


class BytePairTokeniser:
    """The words of a vocabulary and the pairs that are merged into them; the end token is not part of a text.

    A text that contains `<|endoftext|>` gets tokens that spell it, not the end token.
    """

    spells = False
    unknown = NO_TOKEN

    def __init__(self, words: Sequence[str], pairs: Sequence[Pair], end: int, silent: Sequence[int] = ()) -> None:
        """Check and index the vocabulary; raise ValueError if something is wrong with it."""
        self._words, self._pairs, self.size = list(words), list(pairs), len(words)
        self._tokens = {word: token for token, word in enumerate(words)}
        self._ranks = {pair: rank for rank, pair in enumerate(self._pairs)}
        self._check(end)
        self.pad = self.begin = self.end = end
        self.silent = frozenset({end, *silent})
        bytes_of = {symbol: byte for byte, symbol in enumerate(byte_symbols())}
        self._fragments = [_spelled(word, bytes_of) for word in words]
        for token in self.silent:
            self._fragments[token] = b""
        self._join = lru_cache(maxsize=_CACHED)(self._joined)

    def _check(self, end: int) -> None:
        if len(self._tokens) != self.size:
            raise ValueError("its vocabulary holds a word twice")
        if not 0 <= end < self.size:
            raise ValueError(f"its end is {end}, which is not among its {self.size:,} words")
        for byte, symbol in enumerate(byte_symbols()):
            if symbol not in self._tokens:
                raise ValueError(f"its vocabulary has no word for the byte 0x{byte:02X}")
        for first, second in self._pairs:
            if missing := next((word for word in (first, second, first + second) if word not in self._tokens), None):
                raise ValueError(
                    f"it joins '{first}' and '{second}', but its vocabulary has no '{missing}': "
                    "the two belong to different models"
                )

    def __reduce__(self) -> tuple[type["BytePairTokeniser"], tuple[list[str], list[Pair], int, list[int]]]:
        """Pickle for worker processes."""
        return BytePairTokeniser, (self._words, self._pairs, self.end, sorted(self.silent))

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without normalising it."""
        return [token for part in _PART.findall(whole_characters(text)) for token in self._join(part)]

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def _joined(self, part: str) -> tuple[int, ...]:
        """Return the tokens of a part of a text, merging the pairs that were learnt first."""
        symbols = byte_symbols()
        pieces = [symbols[byte] for byte in part.encode()]
        while len(pieces) > 1:
            best = min(pairwise(pieces), key=lambda pair: self._ranks.get(pair, len(self._ranks)))
            if best not in self._ranks:
                break
            pieces = _join_pair(pieces, best)
        return tuple(self._tokens[piece] for piece in pieces)

    def decode(self, tokens: Sequence[int]) -> str:
        return join_fragments(self._fragments[token] for token in tokens)

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """Return the text of tokens, with a space as '▁', and invalid bytes and control characters as <0xC3>."""
        return [self._words[token] if token in self.silent else _shown(self._fragments[token]) for token in tokens]

    def words(self, tokens: Sequence[int]) -> list[int]:
        return word_numbers(tokens, (self._fragments[token] for token in tokens), self.silent)

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """Return what `encode` does: there is only one way to tokenise a text."""
        return self.encode(text)

    def files(self, name: str) -> dict[str, bytes]:
        others = sorted(self.silent - {self.end})
        stored = StoredBytePairs(words=self._words, pairs=list(map(list, self._pairs)), end=self.end, silent=others)
        return {f"{name}.json": json.dumps(stored.model_dump(), ensure_ascii=False).encode()}

    def vocabulary(self) -> dict[str, int]:
        """Return the number of each word, as in `vocab.json`."""
        return dict(self._tokens)

    @property
    def pairs(self) -> Sequence[Pair]:
        """Pairs in merge order, as in `merges.txt`."""
        return self._pairs


def read_byte_pairs(contents: bytes) -> BytePairTokeniser:
    """Read what `files` stored; raise ValueError for anything else."""
    try:
        stored = StoredBytePairs.model_validate_json(contents)
    except ValidationError:
        raise ValueError("it does not hold a vocabulary and pairs of bytes") from None
    if any(len(pair) != 2 for pair in stored.pairs):
        raise ValueError("it holds a pair that does not have two parts")
    return BytePairTokeniser(stored.words, [(one, two) for one, two in stored.pairs], stored.end, stored.silent)


def _join_pair(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Return the pieces with this pair joined everywhere, from left to right."""
    joined: list[str] = []
    place = 0
    while place < len(pieces):
        is_pair = tuple(pieces[place : place + 2]) == pair
        joined.append("".join(pair) if is_pair else pieces[place])
        place += 1 + is_pair
    return joined


def _spelled(word: str, bytes_of: Mapping[str, int]) -> bytes:
    """Return the bytes that a word of the vocabulary stands for; an added word may be plain text."""
    if all(symbol in bytes_of for symbol in word):
        return bytes(bytes_of[symbol] for symbol in word)
    return word.encode()


def _shown(fragment: bytes) -> str:
    return "".join(map(_shown_character, fragment.decode(errors="surrogateescape")))


def _shown_character(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"<0x{code - _FIRST_ESCAPED:02X}>"
    if code < ord(" ") or code == 0x7F:
        return f"<0x{code:02X}>"
    return "▁" if character == " " else character
