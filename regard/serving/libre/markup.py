"""Split HTML into what is kept and what is translated.

A page is split at tags that separate text. Each run of text between them has its inline tags taken out as marks;
`placing.py` puts those back into the translation.
"""

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from regard.serving.libre.tags import MarkupPiece, pieces_of

# Elements within a line of text; every other tag separates text.
_INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "time", "tt", "u", "var", "wbr",
}  # fmt: skip
_VOID = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
}  # fmt: skip
# Their content is not translated.
_VERBATIM = {"script", "style", "textarea", "code", "kbd", "samp", "var", "noscript", "template", "svg", "math"}
_LAID_OUT = "pre"  # white space inside it counts
_DEEPEST = 50  # nested elements; deeper ones are treated as siblings
SPACES = " \t\r\n\f"
_SPACE = re.compile(f"[{SPACES}]+")


@dataclass
class Mark:
    """An element inside a run of text, by its places in the text; without a closing tag it is at one place."""

    opening: str
    start: int
    closing: str = ""
    end: int = 0
    inner: "list[Mark]" = field(default_factory=list)
    crosses: bool = False  # the beginning or end of an element that extends beyond this run


@dataclass
class TextRun:
    """Text between two blocks, and the marks in it."""

    text: str = ""
    marks: list[Mark] = field(default_factory=list)
    keeps_space: bool = False  # white space counts, as in <pre>

    @property
    def parts(self) -> tuple[str, str, str]:
        """The white space before it, its text with single spaces, and the white space after it."""
        inner = self.text.strip(SPACES)
        if not inner:
            return self.text, "", ""
        before, after = self.text.partition(inner)[::2]
        return before, inner if self.keeps_space else _SPACE.sub(" ", inner), after


class _Reader:
    """Reads the pieces of a page one by one."""

    def __init__(self) -> None:
        self.parts: list[str | TextRun] = []
        self._open: list[tuple[str, Mark]] = []  # open elements of this run
        self._left_open = Counter[str]()  # open elements of earlier runs
        self._kept: list[str] = []  # names of open elements whose content is kept verbatim
        self._literal, self._is_block = "", False  # the outermost of them so far, and whether it separates text
        self._laid_out = 0  # number of open elements in which white space counts

    def take(self, piece: MarkupPiece) -> None:
        if self._kept:
            self._take_literally(piece)
        elif piece.is_text:
            self._run.text += html.unescape(piece.raw)
        elif not piece.name:
            self._put(piece.raw)
        elif piece.name not in _VOID and not piece.is_whole and not piece.is_end and _is_verbatim(piece):
            self._kept, self._literal, self._is_block = [piece.name], piece.raw, piece.name not in _INLINE
        elif piece.name not in _INLINE:
            self._part(piece.raw)
            if piece.name == _LAID_OUT:
                self._laid_out = max(0, self._laid_out + (-1 if piece.is_end else 1))
        elif piece.is_end and any(name == piece.name for name, _ in self._open):
            self._end_element(piece)
        else:
            mark = self._put(piece.raw)
            if piece.is_end and self._left_open[piece.name] and not self._open:
                self._left_open[piece.name] -= 1
                mark.crosses = True
            begins = not (piece.is_end or piece.is_whole or piece.name in _VOID)
            self._open += [(piece.name, mark)] if begins and len(self._open) < _DEEPEST else []

    def finish(self) -> list[str | TextRun]:
        """Return all parts in order."""
        if self._literal:
            self._end_literal()
        self._close_run()
        return self.parts

    def _take_literally(self, piece: MarkupPiece) -> None:
        self._literal += piece.raw
        if piece.is_end and piece.name in self._kept:
            del self._kept[len(self._kept) - 1 - self._kept[::-1].index(piece.name) :]
        elif piece.name not in ("", "!", *_VOID) and not piece.is_end and not piece.is_whole:
            self._kept += [piece.name] if len(self._kept) < _DEEPEST else []
        if not self._kept:
            self._end_literal()

    @property
    def _run(self) -> TextRun:
        """The current run of text."""
        if not self.parts or not isinstance(self.parts[-1], TextRun):
            self.parts.append(TextRun(keeps_space=self._laid_out > 0))
        last = self.parts[-1]
        assert isinstance(last, TextRun)
        return last

    def _part(self, whole: str) -> None:
        """Add a tag that separates text."""
        self._close_run()
        self.parts.append(whole)

    def _put(self, whole: str) -> Mark:
        """Add a mark at this place."""
        here = len(self._run.text)
        mark = Mark(whole, here, end=here)
        (self._open[-1][1].inner if self._open else self._run.marks).append(mark)
        return mark

    def _end_literal(self) -> None:
        literal, self._literal, self._kept = self._literal, "", []
        if self._is_block:
            self._part(literal)
        else:
            self._put(literal)

    def _end_element(self, piece: MarkupPiece) -> None:
        while self._open:
            name, mark = self._open[-1]
            if name == piece.name:
                self._open.pop()
                mark.closing, mark.end = piece.raw, len(self._run.text)
                return
            self._leave_open()

    def _leave_open(self) -> Mark:
        """Reduce an element that is never closed to one place; its content follows it."""
        _, mark = self._open.pop()
        (self._open[-1][1].inner if self._open else self._run.marks).extend(mark.inner)
        mark.inner = []
        return mark

    def _close_run(self) -> None:
        while self._open:
            self._left_open[self._open[-1][0]] += 1
            self._leave_open().crosses = True
        if self.parts and isinstance(run := self.parts[-1], TextRun):
            self.parts[-1:] = _cut_at_crossings(run)


def _cut_at_crossings(run: TextRun) -> list[str | TextRun]:
    """Split a run where an element begins or ends that extends beyond it, so that no text moves in or out of it.

    If there is no other mark in the run, nothing can move, and the sentence stays whole.
    """
    if len(run.marks) <= 1:
        return [run]
    parts: list[str | TextRun] = []
    start, marks = 0, list[Mark]()
    for mark in run.marks:
        if mark.crosses:
            parts += [TextRun(run.text[start : mark.start], marks, run.keeps_space), mark.opening]
            start, marks = mark.start, []
        else:
            marks.append(_move(mark, start))
    return [*parts, TextRun(run.text[start:], marks, run.keeps_space)]


def _move(mark: Mark, by: int) -> Mark:
    inner = [_move(mark_, by) for mark_ in mark.inner]
    return Mark(mark.opening, mark.start - by, mark.closing, mark.end - by, inner, mark.crosses)


def _is_verbatim(piece: MarkupPiece) -> bool:
    return piece.name in _VERBATIM or piece.is_untranslated


def read_html(text: str) -> list[str | TextRun]:
    """Split a page into what is kept and what is translated, in order."""
    reader = _Reader()
    for piece in pieces_of(text):
        reader.take(piece)
    return reader.finish()


def write_unchanged(run: TextRun) -> str:
    """Return a run as HTML, untranslated."""
    return write_marked(run.text, run.marks, 0, len(run.text))


def write_marked(text: str, marks: Sequence[Mark], start: int, end: int) -> str:
    """Return part of a text as HTML, with the marks in it."""
    parts = []
    for mark in marks:
        inside = write_marked(text, mark.inner, mark.start, mark.end)
        parts += [html.escape(text[start : mark.start], quote=False), mark.opening, inside, mark.closing]
        start = mark.end
    return "".join([*parts, html.escape(text[start:end], quote=False)])
