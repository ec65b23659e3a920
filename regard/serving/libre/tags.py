"""Split HTML into tags and text in one pass, without ever failing: anything that is not a complete tag is text.

Python's own parser takes quadratic time on some pages, and fails on others.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_LONGEST = 10_000  # characters of a tag; anything longer is text
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)>")
_DECLARATION = re.compile(r"<[!?][^>]*+>")
_UNREAD = ("script", "style")  # their content is neither text nor tags
_NO = re.compile(
    r"""\stranslate\s*=\s*["']?no\b|\sclass\s*=\s*(?:"[^"]*\bnotranslate\b|'[^']*\bnotranslate\b|notranslate\b)""", re.I
)


class MarkupPiece(NamedTuple):
    """A tag with its name, or text or a comment without one, as written in the page."""

    raw: str
    name: str = ""
    is_end: bool = False
    attributes: str = ""

    @property
    def is_text(self) -> bool:
        return not self.name and not self.raw.startswith(("<!", "<?"))

    @property
    def is_whole(self) -> bool:
        """True if a tag begins and ends an element."""
        return self.attributes.endswith("/")

    @property
    def is_untranslated(self) -> bool:
        """True if the tag says that its content must not be translated."""
        return bool(_NO.search(self.attributes))


def pieces_of(page: str) -> Iterator[MarkupPiece]:
    """Yield all pieces of a page; joined, they are the page."""
    text = place = 0  # start of the text not yielded yet, and where to search from
    while (start := page.find("<", place)) >= 0:
        piece = _markup(page, start)
        if piece is None:
            place = start + 1
            continue
        yield from _texts(page[text:start])
        yield piece
        text = place = start + len(piece.raw)
        if piece.name in _UNREAD and not piece.is_end and not piece.is_whole:
            end = re.compile(f"</{piece.name}(?![a-z0-9])", re.I).search(page, place)
            place = end.start() if end else len(page)
            yield from [MarkupPiece(page[text:place], "!")] if place > text else []
            text = place
    yield from _texts(page[text:])


def _texts(text: str) -> Iterator[MarkupPiece]:
    if text:
        yield MarkupPiece(text)


def _markup(page: str, start: int) -> MarkupPiece | None:
    """Return the tag, comment or declaration that begins at a place, if it is complete."""
    if page.startswith("<!--", start):
        end = page.find("-->", start + 4)
        return None if end < 0 else MarkupPiece(page[start : end + 3])
    tag = _TAG.match(page, start, start + _LONGEST)
    if tag:
        return MarkupPiece(tag[0], tag[2].lower(), bool(tag[1]), tag[3].rstrip())
    declaration = _DECLARATION.match(page, start, start + _LONGEST)
    return MarkupPiece(declaration[0]) if declaration else None
