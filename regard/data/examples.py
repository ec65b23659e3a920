"""Amount of training text, and held-out examples that show people what a model reads.

The examples travel in the model folder, where everyone who has the model can read them. The recipe option `examples`
sets their number; 0 keeps private or unlicensed text out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from regard.data.tokenisers.wordpiece import MASK

_READ = 1000  # texts to choose examples from
_WORDS = range(4, 13)  # in an example of handy length
_LETTERS = 80
_BEGINNING = 5  # words of a prompt


@dataclass(frozen=True)
class Amount:
    """Amount of training data."""

    count: int
    unit: Literal["pairs", "texts", "sentences", "tokens", "questions"]


def choose_examples(texts: Iterable[str], count: int) -> list[str]:
    """Return texts of a handy length, spread over the first thousand, or the shortest if too few are handy."""
    candidates = list(dict.fromkeys(_tidy(text) for text in islice(texts, _READ)))
    candidates = [text for text in candidates if text.replace("\n", "").isprintable() and text]
    handy = [text for text in candidates if len(text.split()) in _WORDS and len(text) <= _LETTERS]
    if len(handy) < count:
        handy = sorted(candidates, key=len)[:count]
    chosen = [handy[(2 * place + 1) * len(handy) // (2 * count)] for place in range(count)] if handy else []
    return list(dict.fromkeys(text for text in chosen if len(text) <= 2 * _LETTERS))


def _tidy(text: str) -> str:
    """Collapse spaces in a text; a story keeps its line breaks."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def with_hidden_words(texts: Iterable[str]) -> Iterable[str]:
    """Yield each text with its longest word replaced by a mask."""
    for words in filter(None, map(str.split, texts)):
        longest = max(range(len(words)), key=lambda place: len(words[place]))
        yield " ".join([*words[:longest], MASK, *words[longest + 1 :]])


def beginnings(texts: Iterable[str]) -> Iterable[str]:
    """Return the first words of each text that is longer than a prompt."""
    return (" ".join(words[:_BEGINNING]) for words in map(str.split, texts) if len(words) > _BEGINNING)
