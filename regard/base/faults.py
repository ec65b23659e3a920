"""Faults that the user can fix: clear sentences on what is wrong, never a traceback."""

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """A text as a terminal may show it: what would move its cursor, ring, colour or turn letters is spelled out.

    Names and texts of a model folder come from whoever made it.
    """
    if text.isprintable():
        return text
    return "".join(character.encode("unicode_escape").decode() if _acts(character) else character for character in text)


def _acts(character: str) -> bool:
    return character in _TURNING or unicodedata.category(character) in ("Cc", "Zl", "Zp")


class Fault(Exception):
    """A fault of the user's (a bad recipe, a missing file, the wrong kind of model), one sentence each.

    The command line prints the sentences and exits with status 2; anything else that escapes is a fault of ours.
    """

    def __init__(self, *sentences: str) -> None:
        self.sentences = tuple(map(printable, sentences))
        super().__init__("\n".join(self.sentences))


class TextFault(Fault):
    """A fault in one text, by its number among those given; the caller may know it by another."""

    def __init__(self, number: int, sentence: str) -> None:
        super().__init__(f"Text {number + 1}: {sentence}")
        self.number, self.sentence = number, sentence

    def without_number(self) -> Fault:
        """Return the fault of the only text, without its number."""
        return Fault(self.sentence[:1].upper() + self.sentence[1:])


class TooLong(TextFault):
    """A text that the model was not made for."""


@contextmanager
def faults_numbered(numbers: Sequence[int]) -> Iterator[None]:
    """Report what is wrong with a text of a batch by its number among all texts: `numbers` are those of the batch."""
    try:
        yield
    except TextFault as fault:
        raise type(fault)(numbers[fault.number], fault.sentence) from None
