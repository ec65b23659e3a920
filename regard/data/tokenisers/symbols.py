"""Shared by all tokenisers: the four special tokens, clean text, and joining tokens to text."""

import re
import unicodedata
from collections.abc import Container, Iterable, Sequence

PAD, UNKNOWN, BEGIN, END = range(4)
NAMES = ("<pad>", "<unk>", "<s>", "</s>")
SILENT = frozenset({PAD, BEGIN, END})
UNKNOWN_TEXT = "⁇"

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Return the NFC form of a text; lone surrogates, which are not valid Unicode, become U+FFFD."""
    return text if text.isascii() else unicodedata.normalize("NFC", whole_characters(text))


def whole_characters(text: str) -> str:
    """Return a text with lone surrogates replaced by U+FFFD."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def join_fragments(fragments: Iterable[bytes]) -> str:
    """Return the text whose UTF-8 these fragments are; invalid bytes become U+FFFD."""
    return b"".join(fragments).decode("utf-8", errors="replace")


_SPACE = ord(" ")


def word_numbers(tokens: Sequence[int], fragments: Iterable[bytes], silent: Container[int] = SILENT) -> list[int]:
    """Return for each token the number of its word, or -1 for `silent` tokens, which stand for no text.

    Words are separated by spaces in the joined fragments, and never empty; a space belongs to the word after it, if
    there is one.
    """
    numbers, words, inside = [], 0, False
    for token, fragment in zip(tokens, fragments, strict=True):
        for byte in fragment:
            words += byte != _SPACE and not inside
            inside = byte != _SPACE
        numbers.append(-1 if token in silent else words - inside)
    return [min(number, max(words - 1, 0)) for number in numbers]
