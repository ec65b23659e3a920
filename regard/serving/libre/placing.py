"""Tags put back into a translation by the alignment of its words.

An element around some source words is put around the longest run of output words that come from them and from no
others. So every element comes back once, with its content inside it, and nested elements stay nested. An element whose
words have no counterpart becomes empty, and goes where its neighbours went.

An element without text (a picture, untranslated code, a comment) goes to the word that it touched or stood next to,
with the white space around it; before closing punctuation it stays before it.
"""

import html
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from regard.data.tokenisers.labels import is_unspaced
from regard.engines.translated import Linked
from regard.serving.libre.markup import SPACES, Mark, TextRun, write_marked, write_unchanged

_BEGINS = "([{«“„‘\"'¿¡（［｛「『《〈【"
_ENDS = ".,;:!?…)]}»”’\"'。、，；：！？）］｝」』》〉】؟،؛।॥"


class _Part(NamedTuple):
    """Part of the output: a range of words, and a range of characters."""

    first: int
    last: int
    start: int
    end: int


class _Placed(NamedTuple):
    """A mark by its places in the source text, and whether white space was on either side of it."""

    opening: str
    start: int
    closing: str
    end: int
    inner: "Sequence[_Placed]" = ()
    spaced: tuple[bool, bool] = (False, False)

    @property
    def is_empty(self) -> bool:
        return self.start == self.end


def put_back(run: TextRun, translated: str, linked: Linked) -> str:
    """Return the translation of a run as HTML, with its marks where their words went."""
    before, text, after = run.parts
    if not text:
        return write_unchanged(run)
    start, end = len(before), len(run.text) - len(after)
    first = [mark for mark in run.marks if mark.end <= start]
    last = [mark for mark in run.marks if mark.start >= end]
    inside = [mark for mark in run.marks if mark.end > start and mark.start < end]
    placing = _Placing(text, translated, linked)
    whole = _Part(0, len(linked.targets), 0, len(translated))
    middle = placing.write_part(_move(inside, run, _places(run, start, end)), whole)
    return write_marked(run.text, first, 0, start) + middle + write_marked(run.text, last, end, len(run.text))


def _places(run: TextRun, start: int, end: int) -> list[int]:
    """Return, for each place of a run and its end, the place in the text to translate."""
    places, count = [], 0
    for place, character in enumerate(run.text):
        places.append(count)
        is_dropped = not run.keeps_space and place > start and character in SPACES and run.text[place - 1] in SPACES
        count += start <= place < end and not is_dropped
    return [*places, count]


def _move(marks: Sequence[Mark], run: TextRun, places: Sequence[int]) -> list[_Placed]:
    """Return sibling marks by their places in the text to translate; adjacent empty ones are joined."""
    placed: list[_Placed] = []
    ends = -1  # where the previous mark ended in the run, if it was empty
    for mark in marks:
        start, end = places[mark.start], places[mark.end]
        around = run.text[mark.start - 1 : mark.start], run.text[mark.end : mark.end + 1]
        spaced = around[0] != "" and around[0] in SPACES, around[1] != "" and around[1] in SPACES
        if start < end:
            placed.append(_Placed(mark.opening, start, mark.closing, end, _move(mark.inner, run, places), spaced))
        elif mark.start == ends:
            last = placed.pop()
            placed.append(last._replace(opening=last.opening + _bare(mark), spaced=(last.spaced[0], spaced[1])))
        else:
            placed.append(_Placed(_bare(mark), start, "", end, (), spaced))
        ends = mark.end if start == end else -1
    return placed


def _bare(mark: Mark) -> str:
    """Return an element without text."""
    return mark.opening + "".join(map(_bare, mark.inner)) + mark.closing


class _Placing:
    """The words of a text and its translation, and their links."""

    def __init__(self, text: str, translated: str, linked: Linked) -> None:
        self.text, self.translated = text, translated
        self.sources, self.targets, links = linked
        origin = {target: source for source, target in links}
        self.goals: dict[int, list[int]] = {}  # output words of each source word
        for target in sorted(origin):
            self.goals.setdefault(origin[target], []).append(target)
        from_words = [target in origin for target in range(len(self.targets))]
        self.aligned = [0, *accumulate(from_words)]  # number of linked words before each place

    def write_part(self, marks: Sequence[_Placed], part: _Part) -> str:
        """Return a part of the output with these marks in it."""
        pieces, place = [], part.start
        last = self.translated[place - 1 : place]  # the last character written; for a tag, anything but white space
        # Tags at one place keep their order; an empty one comes before one that begins there.
        for span, mark in sorted(self._place(marks, part), key=lambda placed: (placed[0].start, placed[0].end)):
            text = self.translated[place : span.start]
            pieces.append(html.escape(text, quote=False))
            place, last = span.end, (text or last)[-1:]
            if not mark.is_empty:
                pieces += [mark.opening, self.write_part(mark.inner, span), mark.closing]
                last = ">"
                continue
            before, after = mark.spaced
            pieces += [" "] if before and _wants_space(last, _BEGINS) else []
            pieces.append(mark.opening)
            pieces += [" "] if after and _wants_space(self.translated[place : place + 1], _ENDS) else []
            last = pieces[-1][-1]
        return "".join([*pieces, html.escape(self.translated[place : part.end], quote=False)])

    def _place(self, marks: Sequence[_Placed], part: _Part) -> Iterator[tuple[_Part, _Placed]]:
        """Yield each mark with its span of a part; no two share a word, and an empty one is inside no other."""
        held: list[tuple[_Part, _Placed]] = []  # by their places
        empty = []
        for mark in marks:
            held_part = self._span_of(mark, part)
            number = bisect_left(held, held_part.first, key=lambda item: item[0].first) if held_part else 0
            neighbours = held[max(number - 1, 0) : number + 1]
            if held_part is None or any(
                held_part.first < item.last and item.first < held_part.last for item, _ in neighbours
            ):
                empty.append(mark)
            else:
                held.insert(number, (held_part, mark))
        yield from held
        for mark in empty:
            place = min(max(self._place_of(mark, part), part.start), part.end)
            number = bisect_left(held, place, key=lambda item: item[0].start) - 1
            if number >= 0 and held[number][0].end > place:
                place = held[number][0].end
            word = bisect_left(self.targets, place, part.first, part.last, key=lambda span: span[0])
            yield _Part(word, word, place, place), mark

    def _span_of(self, mark: _Placed, part: _Part) -> _Part | None:
        """Return the longest run of words in a part that come from those of a mark and from no others."""
        goals = sorted(goal for word in self._words_in(mark) for goal in self.goals.get(word, ()))
        goals = goals[bisect_left(goals, part.first) : bisect_left(goals, part.last)]
        if not goals:
            return None
        best, run = [goals[0]], [goals[0]]
        for before, goal in pairwise(goals):
            is_next = self.aligned[goal] == self.aligned[before + 1]  # only unlinked words are between them, if any
            run = [*run[:1], goal] if is_next else [goal]
            count = self.aligned[run[-1] + 1] - self.aligned[run[0]]
            best = run if count > self.aligned[best[-1] + 1] - self.aligned[best[0]] else best
        start, end = self._edges(mark, self.targets[best[0]][0], self.targets[best[-1]][1])
        return _Part(best[0], best[-1] + 1, max(start, part.start), min(end, part.end))

    def _words_in(self, mark: _Placed) -> Iterator[int]:
        """Yield the source words with at least half of their letters inside a mark."""
        first = bisect_right(self.sources, mark.start, key=lambda span: span[1])
        for number in range(first, len(self.sources)):
            start, end = self.sources[number]
            if start >= mark.end:
                return
            if 2 * (min(end, mark.end) - max(start, mark.start)) >= end - start:
                yield number

    def _edges(self, mark: _Placed, start: int, end: int) -> tuple[int, int]:
        """Return where an element begins and ends; adjacent punctuation that it did not contain stays outside."""
        held = self.text[mark.start : mark.end].strip()
        end = end if held[-1:] in _ENDS else max(self._before_closing(start, end), start + 1)
        start = start if held[:1] in _BEGINS else min(self._behind_opening(start, end), end - 1)
        return start, end

    def _place_of(self, mark: _Placed, part: _Part) -> int:
        """Return the place of a mark without words: at the word it touched, else after the word before it."""
        before = bisect_right(self.sources, mark.start, key=lambda span: span[1]) - 1
        after = bisect_left(self.sources, mark.end, key=lambda span: span[0])
        if after - before == 2 and mark.is_empty:
            place = self._place_within(before + 1, mark.start, part)
            if place is not None:
                return place
        if before < 0 or after == len(self.sources):
            return part.start if before < 0 else part.end
        start, end = self.sources[after]
        if mark.is_empty and all(character in _ENDS for character in self.text[start:end]):
            candidates = [self._end_of(before, part, True), self._end_of(after, part, True)]
            last = self._before_closing(part.start, part.end)
        else:
            touches_punctuation = self.text[self.sources[before][1] - 1] in _ENDS, self.text[start] in _BEGINS
            candidates = [
                self._end_of(before, part, not touches_punctuation[0]),
                self._start_of(after, part, not touches_punctuation[1]),
            ]
            touches_what_follows = start == mark.end and self.sources[before][1] != mark.start
            candidates, last = candidates[::-1] if touches_what_follows else candidates, part.end
        return next((place for place in candidates if place is not None), last)

    def _place_within(self, word: int, place: int, part: _Part) -> int | None:
        """Return the place of a mark inside a word: at its punctuation, else at the nearer end of its translation."""
        start, end = self.sources[word]
        if all(character in _ENDS for character in self.text[place:end]):
            return self._end_of(word, part, True)
        if all(character in _BEGINS for character in self.text[start:place]):
            return self._start_of(word, part, True)
        return self._start_of(word, part, False) if place - start < end - place else self._end_of(word, part, False)

    def _goals_in(self, word: int, part: _Part) -> list[tuple[int, int]]:
        return [self.targets[goal] for goal in self.goals.get(word, ()) if part.first <= goal < part.last]

    def _end_of(self, word: int, part: _Part, before_closing: bool) -> int | None:
        """Return the end of a source word's translation, or the place before its closing punctuation."""
        for start, end in self._goals_in(word, part)[-1:]:
            return self._before_closing(start, end) if before_closing else end
        return None

    def _start_of(self, word: int, part: _Part, behind_opening: bool) -> int | None:
        """Return the start of a source word's translation, or the place after its opening punctuation."""
        for start, end in self._goals_in(word, part)[:1]:
            return self._behind_opening(start, end) if behind_opening else start
        return None

    def _before_closing(self, start: int, end: int) -> int:
        return start + len(self.translated[start:end].rstrip(_ENDS))

    def _behind_opening(self, start: int, end: int) -> int:
        return end - len(self.translated[start:end].lstrip(_BEGINS))


def _wants_space(character: str, touching: str) -> bool:
    """Return True if a space separates something from this character, unless its script has no spaces."""
    return bool(character) and character not in SPACES + touching and not is_unspaced(character)
