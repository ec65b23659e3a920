"""How the metrics cut text, and what they count of it.

There are two cuts. `words` keeps letters, marks and digits, in lower case, as summaries and captions are scored;
`tokens` is sacreBLEU's 13a, which keeps punctuation as tokens of its own, as translations are scored. Both begin with
Unicode's NFC, so that a ã is the same however it was typed. Neither cuts languages that write no spaces.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby

from regard.metrics.errors import normal

Ngram = tuple[str, ...]
_ASCII_WORD = re.compile("[a-z0-9]+")


def words(text: str) -> list[str]:
    """The runs of letters, marks and digits, in lower case; `don't` is two, and а́ with its stress mark is no border."""
    lowered = normal(text).lower()
    if lowered.isascii():
        return _ASCII_WORD.findall(lowered)
    return ["".join(run) for belongs, run in groupby(lowered, _in_word) if belongs]


@cache
def _in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


def tokens(text: str) -> list[str]:
    """What sacreBLEU's tokeniser 13a cuts, as it is written."""
    return _cut_13a()(normal(text)).split()


@cache
def _cut_13a() -> Callable[[str], str]:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()


def windows(tokens: Sequence[str], order: int) -> Iterator[Ngram]:
    """Every n-gram of that order, one after another."""
    return zip(*(tokens[start:] for start in range(order)), strict=False)


def counts(tokens: Sequence[str], order: int) -> Counter[Ngram]:
    """How often each n-gram of that order occurs."""
    return Counter(windows(tokens, order))


def shared(first: Counter[Ngram], other: Counter[Ngram]) -> int:
    """How many n-grams two texts have in common, each as often as in the text that has it less often."""
    return (first & other).total()
