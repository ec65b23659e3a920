"""Phrases in a search: where a text contains one, and the tokens that would write it.

A text contains a phrase if it has its letters as whole words or, in scripts without spaces, anywhere. Its tokens vary:
a tokeniser splits a phrase in one way at the beginning of a text, in another after a space, and in a third where it is
joined to what comes before, as a full stop is, and every word in Japanese.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from regard.data.tokenisers.labels import is_unspaced
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.output import Wanted

_CLOSING = frozenset(".,;:!?…%‰°؟،؛।॥")
_NEIGHBOURS = "のは的。aeo1"  # a phrase is tokenised after these, until one of them is a token by itself


def span_of(phrase: str, text: str) -> tuple[int, int] | None:
    """Return the span of a phrase's first occurrence in a text."""
    start = text.find(phrase)
    while start >= 0:
        end = start + len(phrase)
        if not (_are_one_word(text[start - 1 : start], phrase[0]) or _are_one_word(phrase[-1], text[end : end + 1])):
            return start, end
        start = text.find(phrase, start + 1)
    return None


def _are_one_word(left: str, right: str) -> bool:
    """Return True if two adjacent characters are part of one word."""
    return all(
        letter and (letter == "_" or unicodedata.category(letter)[0] in "LMN") for letter in (left, right)
    ) and not (is_unspaced(left) or is_unspaced(right))


def search_goal(phrase: Sequence[int], tokeniser: Tokeniser, is_joined: bool) -> Wanted:
    """Return the tokens that a search for a phrase should reach.

    No space comes before a phrase if the output joins its words (`is_joined`), if it begins with closing punctuation,
    or if its script has no spaces.
    """
    text = tokeniser.decode(phrase).strip()
    first, kind = text[0], unicodedata.category(text[0])
    follows_no_space = is_joined or is_unspaced(first) or first in _CLOSING or kind in ("Pe", "Pf")
    gaps = [] if follows_no_space else [" "]
    gaps += [""] if follows_no_space or kind[0] not in "LMN" else []
    continued = [tuple(tokens) for gap in gaps if (tokens := next(_cut_behind(gap, text, tokeniser), None)) is not None]
    spellings = tuple(dict.fromkeys(continued)) or (tuple(phrase),)
    opening = () if tuple(phrase) in spellings else (tuple(phrase),)
    return Wanted(spellings, opening, _finder(text, tokeniser))


def _cut_behind(gap: str, text: str, tokeniser: Tokeniser) -> Iterator[list[int]]:
    """Yield the tokens of a gap and a text after each neighbour that is split off cleanly."""
    for neighbour in _NEIGHBOURS:
        tokens = tokeniser.encode(neighbour + gap + text)
        for place in range(1, len(tokens)):
            if tokeniser.decode(tokens[:place]) == neighbour and tokeniser.unknown not in tokens:
                yield tokens[place:]


def _finder(text: str, tokeniser: Tokeniser) -> Callable[[Sequence[int]], bool]:
    @lru_cache(maxsize=1024)  # a search asks about the same tokens again
    def is_in(tokens: tuple[int, ...]) -> bool:
        return span_of(text, tokeniser.decode(tokens)) is not None

    return lambda tokens: is_in(tuple(tokens))
