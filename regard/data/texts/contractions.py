"""Words that are written as one with the preposition before them, which corpora with tags keep apart: em o, no."""

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
    """The words, those that belong together as one; a capital at the beginning stays."""
    known, found = _CONTRACTIONS[language], list[str]()
    place = 0
    while place < len(words):
        first, *second = words[place : place + 2]
        one = known.get((first.lower(), second[0].lower())) if second else None
        found.append(first if one is None else one.capitalize() if first[0].isupper() else one)
        place += 1 if one is None else 2
    return found
