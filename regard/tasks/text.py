"""Tokens as people see them, for all text tasks."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from regard.data.tokenisers.labels import is_spelled_word, labels
from regard.data.tokenisers.spaces import split_at_spaces
from regard.data.tokenisers.symbols import clean
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.data.tokenisers.words import split_words
from regard.models.text.texts import InputTokens
from regard.protocols import TextVectors
from regard.viewing.sides import Words

_CUTS = {"spaces": split_at_spaces, "words": split_words}  # for tokenisers whose tokens are words


def cut_words(kind: str, text: str) -> list[str]:
    """Return the words of a text as written if tokens of this kind are words, else nothing."""
    return _CUTS[kind](clean(text)) if kind in _CUTS else []


def words_of(tokeniser: Tokeniser, tokens: Sequence[int], written: Sequence[str] = ()) -> Words:
    """Return tokens and the words they form; a single word that is spelled out is shown by its letters.

    If every token is a word, `written` may give the original words, including unknown ones.
    """
    if written:
        return Words(tokeniser.pieces(tokens), written, range(len(tokens)))
    joined = labels(tokeniser, tokens, by_word=not is_spelled_word(tokeniser, tokens))
    return Words(tokeniser.pieces(tokens), joined.texts, joined.places)


def text_vectors(texts: Sequence[Words], layers: Sequence[Tensor]) -> list[TextVectors]:
    """Return the vectors of each text, from one tensor (batch, time, width) per layer."""
    on_host = [states.cpu() for states in layers]
    return [
        TextVectors(text, {number: states[row, : len(text.tokens)] for number, states in enumerate(on_host)})
        for row, text in enumerate(texts)
    ]


def inputs_of(tokeniser: Tokeniser) -> InputTokens:
    """Return the facts about a tokeniser that a network needs."""
    return InputTokens(tokeniser.size, tokeniser.pad, tokeniser.unknown, begin=tokeniser.begin, end=tokeniser.end)


def with_marks(texts: Sequence[Words], before: Sequence[str], behind: Sequence[str]) -> Words:
    """Return consecutive texts as a network reads them: the first marks before all, the others after each."""
    parts = [*map(_mark, before), *(part for text in texts for part in (text, *map(_mark, behind)))]
    tokens = [token for part in parts for token in part.tokens]
    words = [word for part in parts for word in part.words]
    return Words(tokens, words, list(_places(parts)))


def _mark(name: str) -> Words:
    return Words([name], [name], [0])


def _places(parts: Sequence[Words]) -> Iterator[int]:
    first = 0
    for part in parts:
        yield from (first + place for place in part.places)
        first += len(part.words)
