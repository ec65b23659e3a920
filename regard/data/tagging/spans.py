"""Spans spelled by tags such as B-NP I-NP O: find them as conlleval does, write them in any scheme, check them.

A tag is a mark and a type, as in B-NP; O, outside every span, has no type. The schemes differ in their marks:

    iob1    I, and B where a span directly follows another of its type (Ramshaw and Marcus 1995)
    iob2    B where a span begins, I inside (CoNLL-2000)
    ioe1    I, and E where another span of its type directly follows
    ioe2    E where a span ends, I before (Tjong Kim Sang and Veenstra 1999)
    iobes   B, I and E for the first, inner and last word of a span, S for a span of one word

conlleval, the standard scorer of chunkers, reads the first four without knowing which it is, as `find_spans` does.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

Scheme = Literal["iob1", "iob2", "ioe1", "ioe2", "iobes"]
MARKS: dict[Scheme, str] = {"iob1": "IB", "iob2": "BI", "ioe1": "IE", "ioe2": "EI", "iobes": "BIES"}
OUTSIDE = "O"


class Span(NamedTuple):
    """Words from `start` up to, but not including, `end` that form a unit, and its type."""

    type: str
    start: int
    end: int


def find_spans(tags: Sequence[str]) -> list[Span]:
    """Return the spans of a sentence by conlleval's rules, which read any sequence of tags as some spans.

    A span continues while the type stays the same and no mark ends it: B and S begin one, E and S end one, and E after
    E is a span of its own. So I-NP after O or after another type begins a span even without B. conlleval has no S, and
    lets a span continue from E to B, which no scheme of its time has; here both are as in IOBES.
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
    """Return the mark and the type of a tag; the type may contain hyphens, or be empty."""
    mark, _, kind = tag.partition("-")
    return mark, kind


def _parts(before: tuple[str, str], now: tuple[str, str]) -> bool:
    """Return True if a span ends between two words."""
    return before[1] != now[1] or now[0] in (OUTSIDE, "B", "S") or before[0] in ("E", "S")


def write_spans(spans: Sequence[Span], words: int, scheme: Scheme) -> list[str]:
    """Return the tags of a sentence of `words` words with these spans, which are in order."""
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
    """Yield places and tags that the scheme does not allow: another mark, or a missing type."""
    for place, tag in enumerate(tags):
        mark, kind = split_tag(tag)
        if tag != OUTSIDE and (mark not in MARKS[scheme] or not mark or not kind):
            yield place, tag


def misplaced_tags(tags: Sequence[str], scheme: Scheme) -> list[int]:
    """Return the places whose tag does not fit those before it, such as I-NP without a B-NP in iob2.

    These are the places where the spans, written again in the scheme, have other tags.
    """
    rewritten = write_spans(find_spans(tags), len(tags), scheme)
    return [place for place, (one, other) in enumerate(zip(tags, rewritten, strict=True)) if one != other]
