"""Tokens and n-gram counts for the metrics.

There are two tokenisations. `words` keeps letters, marks and digits, in lower case, as summaries and captions are
scored. `tokens` is sacreBLEU's 13a, which keeps punctuation as separate tokens, as translations are scored. Both
normalise to NFC first, so that ã is the same however it was typed. Neither splits languages written without spaces.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain, groupby
from typing import TypeVar

from regard.metrics.errors import normal

Ngram = tuple[str, ...]
Unit = TypeVar("Unit", str, Ngram)
_KEPT = 1 << 18  # most pieces of text to cache
_ASCII_WORD = re.compile("[a-z0-9]+")


def words(text: str) -> list[str]:
    """Return the runs of letters, marks and digits, in lower case; `don't` is two, stressed а́ stays whole."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return list(chain.from_iterable(map(_WORDS.__getitem__, text.split())))


def tokens(text: str) -> list[str]:
    """Return the tokens of sacreBLEU's 13a, unchanged in case."""
    text = normal(text)
    # Only at a line feed does the tokeniser look beyond white space: it joins hyphenated words.
    pieces = [text] if "\n" in text else text.split()
    return list(chain.from_iterable(map(_TOKENS.__getitem__, pieces)))


class _Cut(dict[str, Sequence[str]]):
    """Cache of tokenised chunks between white space: each is tokenised when first met."""

    def __init__(self, cut: Callable[[str], Sequence[str]]) -> None:
        super().__init__()
        self.cut = cut

    def __missing__(self, piece: str) -> Sequence[str]:
        if len(self) >= _KEPT:
            self.clear()
        pieces = self[piece] = self.cut(piece)
        return pieces


def _words_in(piece: str) -> list[str]:
    return ["".join(run) for belongs, run in groupby(normal(piece).lower(), _in_word) if belongs]


@cache
def _in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


def _tokens_in(piece: str) -> list[str]:
    if piece.isalnum():
        return [piece]
    if piece[-1] in ".," and piece[:-1].isalnum():  # the most frequent case
        return [piece[:-1], piece[-1]]
    return _cut_13a()(piece).split()


_WORDS, _TOKENS = _Cut(_words_in), _Cut(_tokens_in)


@cache
def _cut_13a() -> Callable[[str], str]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()


def windows(tokens: Sequence[str], order: int) -> Iterator[Ngram]:
    """Yield every n-gram of that order, in sequence."""
    return zip(*(tokens[start:] for start in range(order)), strict=False)


def counts(tokens: Sequence[str], order: int) -> Counter[Ngram]:
    """Count each n-gram of that order."""
    return Counter(windows(tokens, order))


def count_shared(first: Sequence[Unit], other: Sequence[Unit]) -> int:
    """Count the words or n-grams that two texts share, each as often as in the text that has fewer of it.

    For sorted texts this is the length of their longest common subsequence, which is faster to compute than counts.
    """
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(sorted(first), sorted(other))
