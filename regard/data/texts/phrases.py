"""Phrases: pairs of words that stand together more often than chance has it are joined to one word.

    score(a, b) = (count(a b) − discount) / (count(a) · count(b)) · words

(Mikolov et al. 2013, Distributed Representations of Words and Phrases, equation 6; the factor `words`, how many the
text has, is that of their program word2phrase, so that a threshold means the same whatever the text is long.)
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from regard.data.texts.options import PhraseOptions
from regard.data.tokenisers.spaces import split_at_spaces

JOINED_BY = "_"
Pair = tuple[str, str]


def learn_phrases(lines: Callable[[], Iterable[str]], options: PhraseOptions) -> list[set[Pair]]:
    """The pairs that each pass joins; `lines` gives the text anew for each."""
    passes: list[set[Pair]] = []
    for _ in range(options.passes):
        words, pairs = Counter[str](), Counter[Pair]()
        for line in join_phrases(lines(), passes):
            found = split_at_spaces(line)
            words.update(found)
            pairs.update(pairwise(found))
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
    """The lines with the pairs of each pass joined, from left to right: a word that was joined begins no other pair."""
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
