"""Contractions of prepositions with the next word, which tagged corpora keep apart: em o becomes no."""

from collections.abc import Sequence
from typing import Literal

Language = Literal["pt"]
_ARTICLES = ("o", "a", "os", "as")
_PRONOUNS = (
    *("ele", "ela", "eles", "elas", "isto", "isso", "aquilo"),
    *("este", "esta", "estes", "estas", "esse", "essa", "esses", "essas"),
    *("aquele", "aquela", "aqueles", "aquelas"),
)
_FAR = ("aquilo", "aquele", "aquela", "aqueles", "aquelas")
_CONTRACTIONS: dict[Language, dict[tuple[str, str], str]] = {
    "pt": {
        **{("de", word): f"d{word}" for word in (*_ARTICLES, *_PRONOUNS)},
        **{("em", word): f"n{word}" for word in (*_ARTICLES, *_PRONOUNS, "um", "uma", "uns", "umas")},
        **{("por", word): f"pel{word}" for word in _ARTICLES},
        **{("a", word): f"à{word[1:]}" for word in ("a", "as", *_FAR)},
        **{("a", word): f"a{word}" for word in ("o", "os")},
    }
}


def contract(words: Sequence[str], language: Language) -> list[str]:
    """Contract the words that belong together; an initial capital stays."""
    contractions, contracted = _CONTRACTIONS[language], list[str]()
    place = 0
    while place < len(words):
        first, *second = words[place : place + 2]
        contraction = contractions.get((first.lower(), second[0].lower())) if second else None
        contracted.append(
            first if contraction is None else contraction.capitalize() if first[0].isupper() else contraction
        )
        place += 1 if contraction is None else 2
    return contracted
