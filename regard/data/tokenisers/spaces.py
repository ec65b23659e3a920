"""Text that was cut into words before: every run of characters between two spaces is a token."""

import re
from collections.abc import Iterator, Sequence

from regard.data.tokenisers.symbols import SILENT
from regard.data.tokenisers.words import WordTokeniser

# The white space of ASCII and the null character, which end a word for other tools too; a no-break space is a letter.
_WORD = re.compile(r"[^\0\t-\r ]+")


def split_at_spaces(text: str) -> list[str]:
    """The words of a text whose words are parted by spaces, punctuation marks included."""
    return _WORD.findall(text)


class SpaceTokeniser(WordTokeniser):
    """Words as they are parted in the text, and nothing more: `don't .` is two words.

    Any word may be in its vocabulary, `<unk>` and `</s>` too: written in a text they are words like others, and none
    of them is the unknown or the end token. Lost are unknown words, and how many spaces there were.
    """

    split = staticmethod(split_at_spaces)

    def _fragments(self, tokens: Sequence[int]) -> Iterator[str]:
        is_first = True
        for token in tokens:
            if token in SILENT:
                yield ""
                continue
            word = self._look_up(self._written, token)
            yield word if is_first else f" {word}"
            is_first = False
