"""A text as it stands on an axis: its words as they were written, unknown ones too."""

from collections.abc import Sequence
from dataclasses import replace

from regard.data.tokenisers.labels import labels
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.tasks.text import cut_words
from regard.viewing.sides import Words

FIRST = "[first]"  # the token that some encoders put before a text


def words_of(tokeniser: Tokeniser, kind: str, text: str, tokens: Sequence[int]) -> Words:
    """The tokens of a text; where they are words, as people wrote them."""
    if words := cut_words(kind, text):
        return Words(words, words, range(len(words)))
    texts, places = labels(tokeniser, tokens, by_word=True)
    return Words(tokeniser.pieces(tokens), texts, places)


def with_first(side: Words) -> Words:
    """The same behind a token that stands for the whole text."""
    return replace(
        side,
        tokens=[FIRST, *side.tokens],
        words=[FIRST, *side.words],
        places=[0, *(place + 1 for place in side.places)],
    )
