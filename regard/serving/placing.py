"""Tags put back into a translation by the alignment of its words.

An element that held some words of the source holds the longest run of words of the output that come from them and from
nothing beside. So every element comes back once, with what it held inside it and nested ones nested. One whose words
have no counterpart of their own stands empty, where its neighbours went.
"""

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from regard.serving.markup import SPACES, Mark, Run, unchanged, written
from regard.translated import Alignment

_WORD = re.compile(r"[^ ]+")
_BEGINS = "([{«“„‘\"'¿¡"
_ENDS = ".,;:!?…)]}»”’\"'"


class _Part(NamedTuple):
    """Some of the output: from one word up to another, and from one place up to another."""

    first: int
    last: int
    start: int
    end: int


def put_back(run: Run, translated: str, alignment: Alignment) -> str:
    """The translation of a run as HTML, its marks where their words went."""
    before, text, behind = run.parts
    if not text:
        return unchanged(run)
    start, end = len(before), len(run.text) - len(behind)
    first = [mark for mark in run.marks if mark.end <= start]
    last = [mark for mark in run.marks if mark.start >= end]
    places = _places(run.text, start, end)
    marks = [_moved(mark, places, run.text) for mark in run.marks if mark.end > start and mark.start < end]
    placing = _Placing(text, translated, alignment)
    inside = placing.written(marks, _Part(0, len(placing.targets), 0, len(translated)))
    return written(run.text, first, 0, start) + inside + written(run.text, last, end, len(run.text))


def _places(text: str, start: int, end: int) -> list[int]:
    """For each place of a text, and its end, the place in it when the ends are cut off and white space is one space."""
    places, written = [], 0
    for place, character in enumerate(text):
        places.append(written)
        in_space = place > start and character in SPACES and text[place - 1] in SPACES
        written += start <= place < end and not in_space
    return [*places, written]


def _moved(mark: Mark, places: Sequence[int], text: str) -> Mark:
    inner = [_moved(each, places, text) for each in mark.inner]
    around = text[mark.start - 1 : mark.start], text[mark.end : mark.end + 1]
    alone = mark.start == mark.end and all(each and each in SPACES for each in around)
    return Mark(mark.opening, places[mark.start], mark.closing, places[mark.end], inner, alone)


class _Placing:
    """The words of a text and of its translation as spans, and which come from which."""

    def __init__(self, text: str, translated: str, alignment: Alignment) -> None:
        self.text, self.translated = text, translated
        self.sources = [match.span() for match in _WORD.finditer(text)]
        self.targets = [match.span() for match in _WORD.finditer(translated)]
        origin = {target: source for source, target in alignment if source < len(self.sources)}
        self.goals: dict[int, list[int]] = {}  # where each word of the source went
        for target in sorted(origin):
            if target < len(self.targets):
                self.goals.setdefault(origin[target], []).append(target)
        from_words = [target in origin for target in range(len(self.targets))]
        self.aligned = [0, *accumulate(from_words)]  # how many words before each place come from any word

    def written(self, marks: Sequence[Mark], part: _Part) -> str:
        """A part of the output with these marks in it."""
        pieces, place = [], part.start
        # Tags at one place stay in their order; an empty one comes before what begins there.
        for own, mark in sorted(self._placed(marks, part), key=lambda each: (each[0].start, each[0].end)):
            pieces.append(html.escape(self.translated[place : own.start], quote=False))
            pieces += [mark.opening, self.written(mark.inner, own), mark.closing]
            place = own.end
            if mark.alone and self.translated[place : place + 1].strip():
                pieces.append(" ")
        return "".join([*pieces, html.escape(self.translated[place : part.end], quote=False)])

    def _placed(self, marks: Sequence[Mark], part: _Part) -> Iterator[tuple[_Part, Mark]]:
        """Each mark with what it holds of a part; no two share a word, and an empty one stands in no other."""
        held: list[tuple[_Part, Mark]] = []  # by their places
        empty = []
        for mark in marks:
            own = self._held(mark, part)
            number = bisect_left(held, own.first, key=lambda each: each[0].first) if own else 0
            beside = held[max(number - 1, 0) : number + 1]
            if own is None or any(own.first < each.last and each.first < own.last for each, _ in beside):
                empty.append(mark)
            else:
                held.insert(number, (own, mark))
        yield from held
        for mark in empty:
            place = min(max(self._place_of(mark, part), part.start), part.end)
            number = bisect_left(held, place, key=lambda each: each[0].start) - 1
            if number >= 0 and held[number][0].end > place:
                place = held[number][0].end
            word = bisect_left(self.targets, place, part.first, part.last, key=lambda span: span[0])
            yield _Part(word, word, place, place), mark

    def _held(self, mark: Mark, part: _Part) -> _Part | None:
        """The longest run of words in a part that come from those of a mark and from no others."""
        went = sorted(goal for word in self._words_in(mark) for goal in self.goals.get(word, ()))
        went = went[bisect_left(went, part.first) : bisect_left(went, part.last)]
        if not went:
            return None
        best, run = [went[0]], [went[0]]
        for before, goal in pairwise(went):
            is_next = self.aligned[goal] == self.aligned[before + 1]  # between them stand words from nowhere, if any
            run = [*run[:1], goal] if is_next else [goal]
            count = self.aligned[run[-1] + 1] - self.aligned[run[0]]
            best = run if count > self.aligned[best[-1] + 1] - self.aligned[best[0]] else best
        start, end = self._edges(mark, self.targets[best[0]][0], self.targets[best[-1]][1])
        return _Part(best[0], best[-1] + 1, max(start, part.start), min(end, part.end))

    def _words_in(self, mark: Mark) -> Iterator[int]:
        """The words of the source of whose letters at least half stand inside a mark."""
        first = bisect_right(self.sources, mark.start, key=lambda span: span[1])
        for number in range(first, len(self.sources)):
            start, end = self.sources[number]
            if start >= mark.end:
                return
            if 2 * (min(end, mark.end) - max(start, mark.start)) >= end - start:
                yield number

    def _edges(self, mark: Mark, start: int, end: int) -> tuple[int, int]:
        """Where an element begins and ends; punctuation beside the words that it did not hold stays outside."""
        held = self.text[mark.start : mark.end].strip()
        while end - start > 1 and self.translated[end - 1] in _ENDS and held[-1:] not in _ENDS:
            end -= 1
        while end - start > 1 and self.translated[start] in _BEGINS and held[:1] not in _BEGINS:
            start += 1
        return start, end

    def _place_of(self, mark: Mark, part: _Part) -> int:
        """Where a mark without words goes: to the word it touched, else behind what stood before it."""
        before = bisect_right(self.sources, mark.start, key=lambda span: span[1]) - 1
        behind = bisect_left(self.sources, mark.end, key=lambda span: span[0])
        if before < 0 or behind == len(self.sources):
            return part.start if before < 0 else part.end
        after = [self.targets[goal][1] for goal in self.goals.get(before, ()) if part.first <= goal < part.last]
        ahead = [self.targets[goal][0] for goal in self.goals.get(behind, ()) if part.first <= goal < part.last]
        touches_what_follows = self.sources[behind][0] == mark.end and self.sources[before][1] != mark.start
        found = (ahead[:1] or after[-1:]) if touches_what_follows else (after[-1:] or ahead[:1])
        return found[0] if found else part.end
