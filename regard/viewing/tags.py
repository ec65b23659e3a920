"""Words with their tags: on one line with brackets around spans, and as a page with each tag over its word."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from regard.base.faults import printable
from regard.viewing.canvas import show_word
from regard.viewing.sealed import SealedPage

STYLES = ("page.css", "tags.css")
SCRIPT = "tags-page.js"
_COLOURS = (36, 33, 32, 35, 34, 31)  # cyan, yellow, green, magenta, blue, red; foregrounds that any terminal has
_PLAIN = "\x1b[0m"


@dataclass(frozen=True)
class TaggedWords:
    """The words of a sentence, their tags and how probable each is, and the spans that they spell: type, start, end."""

    words: Sequence[str]
    tags: Sequence[str]
    probabilities: Sequence[float]
    spans: Sequence[tuple[str, int, int]] = ()


def bracketed(sentence: TaggedWords, colour: bool) -> str:
    """The sentence on one line with brackets around its spans: [NP Ana] [VP reads]."""
    words = [printable(word) for word in sentence.words]
    for type_, start, end in sentence.spans:
        words[start] = f"{_begin(type_, colour)}[{printable(type_)} {words[start]}"
        words[end - 1] += f"]{_PLAIN if colour else ''}"
    return " ".join(words)


def _begin(type_: str, colour: bool) -> str:
    """Return the escape that starts a type's colour, the same in every sentence."""
    return f"\x1b[{_COLOURS[crc32(type_.encode()) % len(_COLOURS)]}m" if colour else ""


def tags_page(title: str, sentences: Sequence[TaggedWords]) -> SealedPage:
    """Sentences with their tags as one HTML page, complete in itself."""
    data = [
        {
            "words": [show_word(word) for word in each.words],
            "answers": list(each.tags),
            "probabilities": [round(probability, 4) for probability in each.probabilities],
            "spans": list(each.spans),
        }
        for each in sentences
    ]
    return SealedPage(SCRIPT, STYLES, {"title": title, "sentences": data})
