"""Tokeniser for text that is already split into words: every run of characters between spaces is a token."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from regard.base.compiled import pays_to_compile
from regard.data.tokenisers.symbols import SILENT, clean
from regard.data.tokenisers.words import EncodedRow, WordTokeniser, frequent_words

# ASCII white space and the null character end a word, as in other tools; a no-break space is a letter.
_WORD = re.compile(r"[^\0\t-\r ]+")
_USUAL_LENGTH = 5  # characters of a word and the space after it
_AT_ONCE = 10_000  # lines


def split_at_spaces(text: str) -> list[str]:
    """Split a text at spaces; punctuation marks count as words."""
    return _WORD.findall(text)


def count_spaced_words(texts: Iterable[str], most: int, at_least: int) -> list[str]:
    """Return the most frequent words of texts split at spaces, as `count_words` does."""
    counts, read, rest = Counter[str](), 0, iter(texts)
    while lines := list(islice(rest, _AT_ONCE)):
        read += sum(map(len, lines))
        if pays_to_compile(read // _USUAL_LENGTH):
            import numpy as np

            from regard.data.tokenisers.space_loops import words_of

            words = words_of(_joined(lines), len(lines))
            times = np.bincount(words.numbers, minlength=len(words.distinct))
            counts.update(dict(zip(words.distinct, times.tolist(), strict=True)))
        else:
            counts.update(word for line in lines for word in split_at_spaces(clean(line)))
    return frequent_words(counts, most, at_least)


def _joined(lines: Sequence[str]) -> str:
    """Join lines into clean text in which line feeds occur only at line ends."""
    text = "\n".join(lines)
    if text.count("\n") >= len(lines):
        text = "\n".join(line.replace("\n", " ") for line in lines)
    return clean(text)


class SpaceTokeniser(WordTokeniser):
    """Words as separated in the text: `don't .` is two words.

    Any word may be in its vocabulary, even `<unk>` and `</s>`: in a text they are ordinary words, not the unknown or
    the end token. Unknown words and the number of spaces are lost.
    """

    split = staticmethod(split_at_spaces)

    def encode_in_a_row(self, texts: list[str]) -> EncodedRow:
        if not pays_to_compile(sum(map(len, texts)) // _USUAL_LENGTH):
            return super().encode_in_a_row(texts)
        import numpy as np

        from regard.data.tokenisers.space_loops import words_of

        words = words_of(_joined(texts), len(texts))
        tokens = np.array(self.tokens_of(words.distinct), np.int64)
        return EncodedRow(tokens[words.numbers], words.lengths)

    def _fragments(self, tokens: Sequence[int]) -> Iterator[str]:
        is_first = True
        for token in tokens:
            if token in SILENT:
                yield ""
                continue
            word = self._look_up(self._written, token)
            yield word if is_first else f" {word}"
            is_first = False
