"""Phrases: join pairs of words that occur together more often than by chance.

    score(a, b) = (count(a b) − discount) / (count(a) · count(b)) · words

(Mikolov et al. 2013, Distributed Representations of Words and Phrases, equation 6. The factor `words`, the number of
words in the text, comes from their program word2phrase; it makes a threshold independent of the text's length.)
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from regard.data.texts.options import PhraseOptions
from regard.data.tokenisers.spaces import split_at_spaces

JOINED_BY = "_"
Pair = tuple[str, str]


def learn_phrases(lines: Callable[[], Iterable[str]], options: PhraseOptions) -> list[set[Pair]]:
    """Return the pairs that each pass joins; `lines` yields the text once per pass."""
    passes: list[set[Pair]] = []
    for _ in range(options.passes):
        words, pairs = Counter[str](), Counter[Pair]()
        for line in join_phrases(lines(), passes):
            line_words = split_at_spaces(line)
            words.update(line_words)
            pairs.update(pairwise(line_words))
        total = words.total()
        passes.append(
            {
                (first, second)
                for (first, second), count in pairs.items()
                if (count - options.discount) / (words[first] * words[second]) * total > options.threshold
            }
        )
    return passes


def join_phrases(lines: Iterable[str], passes: Sequence[set[Pair]]) -> Iterator[str]:
    """Yield the lines with the pairs of each pass joined, from left to right: a joined word begins no other pair."""
    for line in lines:
        words = split_at_spaces(line) if passes else [line]
        for pairs in passes:
            words = _joined(words, pairs)
        yield " ".join(words)


def _joined(words: Sequence[str], pairs: set[Pair]) -> list[str]:
    joined: list[str] = []
    place = 0
    while place < len(words):
        is_pair = tuple(words[place : place + 2]) in pairs
        joined.append(JOINED_BY.join(words[place : place + 1 + is_pair]))
        place += 1 + is_pair
    return joined
