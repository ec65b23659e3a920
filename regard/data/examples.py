"""Amount of training text, and examples from held-out text that show people what a model reads.

Such examples travel in the model folder, where everyone who has the model can read them: the option `examples` of a
recipe says how many there are, and 0 keeps private or unlicensed text out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from regard.data.tokenisers.wordpiece import MASK

_READ = 1000  # texts among which examples are looked for
_WORDS = range(4, 13)  # of a text that is easy to take in
_LETTERS = 80
_BEGINNING = 5  # words of a prompt


@dataclass(frozen=True)
class Amount:
    """Amount of training data."""

    count: int
    unit: Literal["pairs", "texts", "sentences", "tokens", "questions"]


def choose_examples(texts: Iterable[str], count: int) -> list[str]:
    """Texts of a handy length, spread over the first thousand; the shortest of them where none is handy."""
    found = list(dict.fromkeys(_tidy(text) for text in islice(texts, _READ)))
    found = [text for text in found if text.replace("\n", "").isprintable() and text]
    handy = [text for text in found if len(text.split()) in _WORDS and len(text) <= _LETTERS]
    if len(handy) < count:
        handy = sorted(found, key=len)[:count]
    chosen = [handy[(2 * place + 1) * len(handy) // (2 * count)] for place in range(count)] if handy else []
    return list(dict.fromkeys(text for text in chosen if len(text) <= 2 * _LETTERS))


def _tidy(text: str) -> str:
    """A text with single spaces; a story keeps its lines."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def with_hidden_words(texts: Iterable[str]) -> Iterable[str]:
    """Each text with its longest word hidden behind a mask."""
    for words in filter(None, map(str.split, texts)):
        hidden = max(range(len(words)), key=lambda place: len(words[place]))
        yield " ".join([*words[:hidden], MASK, *words[hidden + 1 :]])


def beginnings(texts: Iterable[str]) -> Iterable[str]:
    """The first words of each text that has more of them."""
    return (" ".join(words[:_BEGINNING]) for words in map(str.split, texts) if len(words) > _BEGINNING)
