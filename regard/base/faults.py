"""Faults that the user can fix: clear sentences on what is wrong, never a traceback."""

import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """Return a text that is safe to print: control characters and those that reorder letters are escaped.

    Names and texts of a model folder come from whoever made it.
    """
    if text.isprintable():
        return text
    return "".join(character.encode("unicode_escape").decode() if _acts(character) else character for character in text)


def _acts(character: str) -> bool:
    return character in _TURNING or unicodedata.category(character) in ("Cc", "Zl", "Zp")


class Fault(Exception):
    """A fault that the user can fix (a bad recipe, a missing file, the wrong kind of model), one sentence each.

    The command line prints the sentences and exits with status 2; any other exception is our fault.
    """

    def __init__(self, *sentences: str) -> None:
        self.sentences = tuple(map(printable, sentences))
        super().__init__("\n".join(self.sentences))


class TextFault(Fault):
    """A fault in one text, by its number among those given; the caller may number it differently."""

    def __init__(self, number: int, sentence: str) -> None:
        super().__init__(f"Text {number + 1}: {sentence}")
        self.number, self.sentence = number, sentence

    def without_number(self) -> Fault:
        """Return the fault of the only text, without its number."""
        return Fault(self.sentence[:1].upper() + self.sentence[1:])


class TooLong(TextFault):
    """A text that is too long for the model."""


@contextmanager
def faults_numbered(numbers: Sequence[int]) -> Iterator[None]:
    """Renumber faults in a batch: `numbers` are the numbers of its texts among all texts."""
    try:
        yield
    except TextFault as fault:
        raise type(fault)(numbers[fault.number], fault.sentence) from None
