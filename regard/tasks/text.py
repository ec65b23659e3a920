"""Tokens as people see them, for all tasks of text."""

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

_CUTS = {"spaces": split_at_spaces, "words": split_words}  # of the tokenisers whose tokens are words


def cut_words(kind: str, text: str) -> list[str]:
    """The words of a text as they were written, where tokens of this kind are words; nothing where they are not."""
    return _CUTS[kind](clean(text)) if kind in _CUTS else []


def words_of(tokeniser: Tokeniser, tokens: Sequence[int], written: Sequence[str] = ()) -> Words:
    """Tokens and the words they are joined to; a single word that is spelled is shown by its letters.

    Where every token is a word, the words may be given as they were `written`, unknown ones too.
    """
    if written:
        return Words(tokeniser.pieces(tokens), written, range(len(tokens)))
    joined = labels(tokeniser, tokens, by_word=not is_spelled_word(tokeniser, tokens))
    return Words(tokeniser.pieces(tokens), joined.texts, joined.places)


def text_vectors(texts: Sequence[Words], layers: Sequence[Tensor]) -> list[TextVectors]:
    """The vectors of each text by themselves, from those of all (batch, time, width), a tensor for every layer."""
    on_host = [states.cpu() for states in layers]
    return [
        TextVectors(text, {number: states[row, : len(text.tokens)] for number, states in enumerate(on_host)})
        for row, text in enumerate(texts)
    ]


def inputs_of(tokeniser: Tokeniser) -> InputTokens:
    """Return what a network needs to know of these tokens."""
    return InputTokens(tokeniser.size, tokeniser.pad, tokeniser.unknown, begin=tokeniser.begin, end=tokeniser.end)


def with_marks(texts: Sequence[Words], before: Sequence[str], behind: Sequence[str]) -> Words:
    """Texts one after another as a network reads them: its first marks before them all, the others behind each."""
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
