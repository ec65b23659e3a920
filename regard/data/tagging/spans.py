"""Spans that tags spell, such as B-NP I-NP O: found as conlleval finds them, written in any scheme, and checked.

A tag is a mark and a type, as in B-NP; O, outside of every span, has no type. The schemes differ in the marks:

    iob1    I, and B where a span follows another of its type at once (Ramshaw and Marcus 1995)
    iob2    B where a span begins, I inside (CoNLL-2000)
    ioe1    I, and E where a span is followed at once by another of its type
    ioe2    E where a span ends, I before (Tjong Kim Sang and Veenstra 1999)
    iobes   B, I and E for the first, inner and last word of a span, S for a span of one word

conlleval, by which chunkers are compared, reads the first four without being told which it is, as `find_spans` does.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

Scheme = Literal["iob1", "iob2", "ioe1", "ioe2", "iobes"]
MARKS: dict[Scheme, str] = {"iob1": "IB", "iob2": "BI", "ioe1": "IE", "ioe2": "EI", "iobes": "BIES"}
OUTSIDE = "O"


class Span(NamedTuple):
    """Words from `start` up to and without `end` that belong together, and what they are."""

    type: str
    start: int
    end: int


def find_spans(tags: Sequence[str]) -> list[Span]:
    """The spans of a sentence by the rules of conlleval, which reads every sequence of tags as some spans.

    A span goes on as long as the type stays the same and neither mark parts it: B and S begin one, E and S end one, and
    E after E is a span of its own. So I-NP after O or after another type begins a span though no B says so. conlleval
    has no S, and lets a span go on from E to B, which no scheme of its time has; here both are as in IOBES.
    """
    spans, start, before = [], None, (OUTSIDE, "")
    for place, tag in enumerate([*tags, OUTSIDE]):
        now = split_tag(tag)
        if start is not None and _parts(before, now):
            spans.append(Span(before[1], start, place))
            start = None
        if start is None and now[0] != OUTSIDE:
            start = place
        before = now
    return spans


def split_tag(tag: str) -> tuple[str, str]:
    """The mark and the type of a tag; the type may have hyphens of its own, or be empty."""
    mark, _, kind = tag.partition("-")
    return mark, kind


def _parts(before: tuple[str, str], now: tuple[str, str]) -> bool:
    """Return True if a span ends between two words."""
    return before[1] != now[1] or now[0] in (OUTSIDE, "B", "S") or before[0] in ("E", "S")


def write_spans(spans: Sequence[Span], words: int, scheme: Scheme) -> list[str]:
    """The tags of a sentence of so many words in which these spans stand, in their order."""
    tags = [OUTSIDE] * words
    for number, span in enumerate(spans):
        last, after = span.end - 1, spans[number + 1] if number + 1 < len(spans) else None
        before = spans[number - 1] if number else None
        follows = before is not None and before[0] == span.type and before.end == span.start
        is_followed = after is not None and after[0] == span.type and after.start == span.end
        marks = ["I"] * (span.end - span.start)
        if scheme in ("iob2", "iobes") or (scheme == "iob1" and follows):
            marks[0] = "B"
        if scheme in ("ioe2", "iobes") or (scheme == "ioe1" and is_followed):
            marks[-1] = "E"
        if scheme == "iobes" and span.start == last:
            marks = ["S"]
        tags[span.start : span.end] = [f"{mark}-{span.type}" for mark in marks]
    return tags


def foreign_tags(tags: Sequence[str], scheme: Scheme) -> Iterator[tuple[int, str]]:
    """The tags that no sentence of the scheme can have, with their places: another mark, a type that is missing."""
    for place, tag in enumerate(tags):
        mark, kind = split_tag(tag)
        if tag != OUTSIDE and (mark not in MARKS[scheme] or not mark or not kind):
            yield place, tag


def misplaced_tags(tags: Sequence[str], scheme: Scheme) -> list[int]:
    """The places whose tag does not belong after those before it, such as I-NP without a B-NP in iob2.

    It is there that the spans, written in the scheme again, have other tags.
    """
    again = write_spans(find_spans(tags), len(tags), scheme)
    return [place for place, (one, other) in enumerate(zip(tags, again, strict=True)) if one != other]
