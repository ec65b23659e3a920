"""Words with their tags: on one line with brackets around spans, and as a page with each tag above its word."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from regard.base.faults import printable
from regard.viewing.canvas import show_word
from regard.viewing.sealed import SealedPage

STYLES = ("page.css", "tags.css")
SCRIPT = "tags-page.js"
_COLOURS = (36, 33, 32, 35, 34, 31)  # cyan, yellow, green, magenta, blue, red: foregrounds of any terminal
_PLAIN = "\x1b[0m"


@dataclass(frozen=True)
class TaggedWords:
    """The words of a sentence, their tags with probabilities, and the spans that they mark: type, start, end."""

    words: Sequence[str]
    tags: Sequence[str]
    probabilities: Sequence[float]
    spans: Sequence[tuple[str, int, int]] = ()


def bracketed(sentence: TaggedWords, colour: bool) -> str:
    """Return the sentence on one line with brackets around its spans: [NP Ana] [VP reads]."""
    words = [printable(word) for word in sentence.words]
    for type_, start, end in sentence.spans:
        words[start] = f"{_begin(type_, colour)}[{printable(type_)} {words[start]}"
        words[end - 1] += f"]{_PLAIN if colour else ''}"
    return " ".join(words)


def _begin(type_: str, colour: bool) -> str:
    """Return the escape that starts a type's colour, the same in every sentence."""
    return f"\x1b[{_COLOURS[crc32(type_.encode()) % len(_COLOURS)]}m" if colour else ""


def tags_page(title: str, sentences: Sequence[TaggedWords]) -> SealedPage:
    """Return sentences with their tags as a self-contained HTML page."""
    data = [
        {
            "words": [show_word(word) for word in sentence.words],
            "answers": list(sentence.tags),
            "probabilities": [round(probability, 4) for probability in sentence.probabilities],
            "spans": list(sentence.spans),
        }
        for sentence in sentences
    ]
    return SealedPage(SCRIPT, STYLES, {"title": title, "sentences": data})
