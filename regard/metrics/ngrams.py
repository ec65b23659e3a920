"""Tokens and n-gram counts of the metrics.

There are two cuts. `words` keeps letters, marks and digits, in lower case, as summaries and captions are scored;
`tokens` is sacreBLEU's 13a, which keeps punctuation as tokens of its own, as translations are scored. Both begin with
Unicode's NFC, so that a ã is the same however it was typed. Neither cuts languages that write no spaces.
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
_KEPT = 1 << 18  # pieces of text, at the most
_ASCII_WORD = re.compile("[a-z0-9]+")


def words(text: str) -> list[str]:
    """The runs of letters, marks and digits, in lower case; `don't` is two, and а́ with its stress mark is no border."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return list(chain.from_iterable(map(_WORDS.__getitem__, text.split())))


def tokens(text: str) -> list[str]:
    """Return the tokens of sacreBLEU's 13a, unchanged in case."""
    text = normal(text)
    # Only at a line feed does the tokeniser look beyond what white space parts: it joins words that a hyphen breaks.
    pieces = [text] if "\n" in text else text.split()
    return list(chain.from_iterable(map(_TOKENS.__getitem__, pieces)))


class _Cut(dict[str, Sequence[str]]):
    """Cache of tokenised chunks between white space: each is tokenised when first met, and hardly ever again."""

    def __init__(self, cut: Callable[[str], Sequence[str]]) -> None:
        super().__init__()
        self.cut = cut

    def __missing__(self, piece: str) -> Sequence[str]:
        if len(self) >= _KEPT:
            self.clear()
        found = self[piece] = self.cut(piece)
        return found


def _words_in(piece: str) -> list[str]:
    return ["".join(run) for belongs, run in groupby(normal(piece).lower(), _in_word) if belongs]


@cache
def _in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


def _tokens_in(piece: str) -> list[str]:
    if piece.isalnum():
        return [piece]
    if piece[-1] in ".," and piece[:-1].isalnum():  # most of what is cut at all
        return [piece[:-1], piece[-1]]
    return _cut_13a()(piece).split()


_WORDS, _TOKENS = _Cut(_words_in), _Cut(_tokens_in)


@cache
def _cut_13a() -> Callable[[str], str]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()


def windows(tokens: Sequence[str], order: int) -> Iterator[Ngram]:
    """Every n-gram of that order, one after another."""
    return zip(*(tokens[start:] for start in range(order)), strict=False)


def counts(tokens: Sequence[str], order: int) -> Counter[Ngram]:
    """Count each n-gram of that order."""
    return Counter(windows(tokens, order))


def count_shared(first: Sequence[Unit], other: Sequence[Unit]) -> int:
    """Count the words or n-grams two texts share, each as often as in the text that has it less often.

    Once both are sorted, that is the length of their longest common subsequence, which is found faster than counts are.
    """
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity(sorted(first), sorted(other))
