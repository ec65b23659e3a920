"""The word tokeniser: simple, readable, and the only one that loses something."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Self

from regard.data.tokenisers.symbols import BEGIN, END, NAMES, PAD, SILENT, UNKNOWN, UNKNOWN_TEXT, clean, word_numbers

if TYPE_CHECKING:
    import numpy as np

_OPENING = frozenset("¿¡$£#@/")
_CLOSING = frozenset(".,;:!?…%‰°/؟،؛।॥。、！？：；，")
_PICTURES = "\U0001f000-\U0001faff"  # emoji and the like
_STRAIGHT_QUOTES = ("'", '"')


@cache
def _pattern() -> re.Pattern[str]:
    """Match words, with ' - · inside them and . , : between digits, and runs of one punctuation mark or symbol."""
    marks = (chr(code) for code in range(0x10000) if unicodedata.category(chr(code))[0] in "PS")
    mark = "".join(re.escape(character) for character in marks if character != "_") + _PICTURES
    word = rf"[^\s{mark}]+"
    return re.compile(rf"{word}(?:['’\-‐·]{word}|(?<=\d)[.,:](?=\d){word})*|([{mark}])\1*")


def split_words(text: str) -> list[str]:
    """Return the words and punctuation marks of a text in any script that puts spaces between words."""
    return [match[0] for match in _pattern().finditer(text)]


def count_words(
    texts: Iterable[str], most: int, at_least: int = 1, split: Callable[[str], list[str]] = split_words
) -> list[str]:
    """Return the `most` most frequent words that occur at least `at_least` times.

    They are sorted by frequency, equally frequent ones by code points.
    """
    return frequent_words(Counter(word for text in texts for word in split(clean(text))), most, at_least)


def frequent_words(counts: Mapping[str, int], most: int, at_least: int) -> list[str]:
    """Return the `most` most frequent words; equally frequent ones are sorted by code points."""
    frequent = [word for word, count in counts.items() if count >= at_least]
    return sorted(frequent, key=lambda word: (-counts[word], word))[:most]


class EncodedRow(NamedTuple):
    """Tokens of many texts in one array, and the length of each text."""

    tokens: "np.ndarray"
    lengths: "np.ndarray"


def in_a_row(rows: Sequence[Sequence[int]]) -> EncodedRow:
    """Put the tokens of many texts into one array."""
    import numpy as np

    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    return EncodedRow(np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum())), lengths)


class WordTokeniser:
    """Every word or punctuation mark is a token.

    Words outside the vocabulary are lost: they become the unknown token, written as ⁇. Spacing is lost too: words are
    joined by single spaces, and punctuation is attached as in English and related languages. So double spaces, line
    breaks, '5 %' or text without spaces between words are not restored.
    """

    pad, unknown, begin, end = PAD, UNKNOWN, BEGIN, END
    spells = False
    split = staticmethod(split_words)

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._names = [*NAMES, *words]
        self._written = ["", UNKNOWN_TEXT, "", "", *words]
        self._tokens = {word: token for token, word in enumerate(words, len(NAMES))}
        self._further: list[str] = []
        self._further_tokens: dict[str, int] = {}
        self.size = len(self._names)

    def extended(self, words: Iterable[str]) -> Self:
        """Return a tokeniser with further words as tokens after its own, except those it knows."""
        result = copy(self)
        new = dict.fromkeys(word for word in words if word not in self._tokens and word not in self._further_tokens)
        result._further = [*self._further, *new]
        result._further_tokens = {word: token for token, word in enumerate(result._further, len(self._names))}
        result.size = len(self._names) + len(result._further)
        return result

    def token_of(self, word: str) -> int:
        """Return the token of a word, or the unknown one."""
        return self._tokens.get(word) or self._further_tokens.get(word, UNKNOWN)

    def tokens_of(self, words: Iterable[str]) -> list[int]:
        """Return the token of each word, or the unknown one."""
        own_tokens, further = self._tokens, self._further_tokens
        return [own_tokens.get(word) or further.get(word, UNKNOWN) for word in words]

    def encode(self, text: str) -> list[int]:
        return self.tokens_of(self.split(clean(text)))

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def encode_in_a_row(self, texts: list[str]) -> EncodedRow:
        """Return the tokens of many texts in one array, and the length of each."""
        return in_a_row(self.encode_all(texts))

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(self._fragments(tokens))

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        return [self._look_up(self._names, token) for token in tokens]

    def words(self, tokens: Sequence[int]) -> list[int]:
        return word_numbers(tokens, (fragment.encode() for fragment in self._fragments(tokens)))

    def sample(self, text: str, key: tuple[int, ...]) -> list[int]:
        """Return what `encode` does: there is only one way to split a text into words."""
        return self.encode(text)

    def files(self, name: str) -> dict[str, bytes]:
        return {f"{name}.json": json.dumps({"words": self._words}, ensure_ascii=False, indent=0).encode()}

    def _look_up(self, texts: list[str], token: int) -> str:
        """Return the text of a token from a list for the vocabulary; a further word is itself."""
        return texts[token] if token < len(texts) else self._further[token - len(texts)]

    def _fragments(self, tokens: Sequence[int]) -> Iterator[str]:
        """Yield each token's text with the space before it, if any."""
        return spaced("" if token in SILENT else self._look_up(self._written, token) for token in tokens)


def spaced(words: Iterable[str]) -> Iterator[str]:
    """Yield each word or punctuation mark with the space before it, if any, so that they join to a text."""
    glued, inside = True, dict.fromkeys(_STRAIGHT_QUOTES, False)
    for word in words:
        if not word:
            yield ""
            continue
        opens, closes = _opens(word), _closes(word)
        if word in inside:
            opens, closes = not inside[word], inside[word]
            inside[word] = opens
        yield word if glued or closes else f" {word}"
        glued = opens


def _opens(word: str) -> bool:
    """Return True if the next word follows without a space."""
    return word[0] in _OPENING or unicodedata.category(word[0]) in ("Ps", "Pi")


def _closes(word: str) -> bool:
    """Return True if the word follows the one before it without a space."""
    return word[0] in _CLOSING or unicodedata.category(word[0]) in ("Pe", "Pf")


def read_words(contents: bytes) -> list[str]:
    """Read the words of a tokeniser that `files` stored; raise ValueError for anything else."""
    stored = json.loads(contents.decode())
    words = stored.get("words") if isinstance(stored, dict) else None
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        raise ValueError("it does not hold a list of words")
    if len(set(words)) != len(words):
        raise ValueError("it holds a word twice")
    return words
