"""What all tokenisers share: the four tokens that stand for no text, clean text, and putting it back together."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

PAD, UNKNOWN, BEGIN, END = range(4)
NAMES = ("<pad>", "<unk>", "<s>", "</s>")
SILENT = frozenset({PAD, BEGIN, END})
UNKNOWN_TEXT = "⁇"

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """The NFC form of a text; lone surrogates, which are no Unicode text, become U+FFFD."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _LONE_SURROGATE.sub("\ufffd", text))


def joined(fragments: Iterable[bytes]) -> str:
    """The text whose UTF-8 these fragments are; bytes that make no character become U+FFFD."""
    return b"".join(fragments).decode("utf-8", errors="replace")


def word_numbers(tokens: Sequence[int], fragments: Iterable[bytes]) -> list[int]:
    """For each token the number of the word it is part of, -1 for tokens that stand for no text.

    Words are what `text.split(" ")` gives of the joined fragments; a space belongs to the word after it.
    """
    numbers, spaces = [], 0
    for token, fragment in zip(tokens, fragments, strict=True):
        spaces += fragment.count(b" ")
        numbers.append(-1 if token in SILENT else spaces)
    return numbers
