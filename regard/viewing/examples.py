"""Nearest training examples of an input, place by place: tables in the terminal, in a picture and on a page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regard.viewing.canvas import show_word
from regard.viewing.sealed import SealedPage
from regard.viewing.tables import TableLesson, WordTable, draw_tables, tables_page
from regard.viewing.written import cell_len, fit_text, table_lines

OPEN, CLOSE = "»", "«"  # around a marked place
_NARROWEST = 12  # terminal cells of a training text
_GAPS = 4  # terminal cells around a column


@dataclass(frozen=True)
class TrainingExample:
    """A place in the training data: how near it is, the text and its translation or label, and what followed there."""

    closeness: float
    text: str
    answer: str
    followed: str


@dataclass(frozen=True)
class AskedPlace:
    """A place of the input, and the training examples nearest to it, the nearest first."""

    name: str
    examples: Sequence[TrainingExample]

    @property
    def agreeing(self) -> int:
        """Number of examples that were followed by the same token, or are the same word."""
        return sum(example.followed == self.name for example in self.examples)


@dataclass(frozen=True)
class NearestExamples:
    """The places of an input, and what they were compared with.

    `kind` says what a place is: a token, a word, or, if empty, the whole text. `by` is cosine or l2.
    """

    text: str
    kind: str
    by: str
    states: int
    texts: int
    total: int
    places: Sequence[AskedPlace]

    @property
    def about(self) -> str:
        """A sentence on the sample."""
        measure = "cosine" if self.by == "cosine" else "distance (l2)"
        paper = ", as in k-nearest-neighbour translation (Khandelwal et al. 2021)" if self.kind == "token" else ""
        compared = f"{self.states:,} states of {self.texts:,} of {self.total:,} training texts"
        return f"Nearest by {measure} among {compared}{paper}."

    @property
    def columns(self) -> list[str]:
        followed = {"token": ["followed by"], "word": ["word"]}.get(self.kind, [])
        return [self.by, "training text", *(["with"] if self._has_answers else []), *followed]

    @property
    def _has_answers(self) -> bool:
        return any(example.answer for place in self.places for example in place.examples)

    def title(self, place: AskedPlace) -> str:
        """Return the heading of a place."""
        if not self.kind:
            return f"Texts nearest to: {show_word(place.name)}"
        what = "were followed by it" if self.kind == "token" else "are the same word"
        return f"{show_word(place.name)}: {place.agreeing} of the {len(place.examples)} nearest {what}"

    def row(self, example: TrainingExample) -> list[str]:
        answer = [_shown(example.answer)] if self._has_answers else []
        followed = [_shown(example.followed)] if self.kind else []
        return [f"{example.closeness:.3f}", _shown(example.text), *answer, *followed]


def _shown(text: str) -> str:
    return show_word(text) if text else ""


def examples_to_json(nearest: NearestExamples) -> dict[str, Any]:
    """Return the examples as plain values, with unrounded numbers."""
    return {
        "text": nearest.text,
        "by": nearest.by,
        "states": nearest.states,
        "texts": nearest.texts,
        "total": nearest.total,
        "places": [
            {
                "name": place.name,
                "agreeing": place.agreeing if nearest.kind else None,
                "examples": [
                    {
                        nearest.by: example.closeness,
                        "text": example.text,
                        "answer": example.answer,
                        "followed": example.followed,
                    }
                    for example in place.examples
                ],
            }
            for place in nearest.places
        ],
    }


def examples_lines(nearest: NearestExamples, width: int) -> list[str]:
    """Return a table for each place, at most `width` cells wide."""
    lines: list[str] = []
    for place in nearest.places:
        rows = [nearest.row(example) for example in place.examples]
        long = 2 if nearest.columns[2:3] == ["with"] else 1
        short = [len(nearest.columns[0]), *(max(len(row[at]) for row in rows) for at in range(1 + long, len(rows[0])))]
        room = max(_NARROWEST, (width - sum(short) - _GAPS * len(nearest.columns)) // long)
        cut = [[_fit_marked(cell, room) if 1 <= at <= long else cell for at, cell in enumerate(row)] for row in rows]
        lines += [fit_text(nearest.title(place), width), *table_lines(nearest.columns, cut), ""]
    return [*lines, nearest.about]


def _fit_marked(text: str, width: int) -> str:
    """Return a text in at most `width` cells; if it is cut, its mark stays visible."""
    mark = text.find(OPEN)
    if cell_len(text) <= width or text.find(CLOSE) < width - 1:
        return fit_text(text, width)
    return fit_text(f"…{text[max(0, min(mark - width // 3, len(text) - width + 1)) :]}", width)


@dataclass(frozen=True)
class DrawnExamples:
    """The nearest examples as a drawing."""

    nearest: NearestExamples

    @property
    def _lesson(self) -> TableLesson:
        nearest = self.nearest
        tables = [
            WordTable(nearest.title(place), nearest.columns, [nearest.row(example) for example in place.examples])
            for place in nearest.places
        ]
        return TableLesson(show_word(nearest.text), [*tables[:-1], replace(tables[-1], caption=nearest.about)])

    def draw(self, path: Path) -> set[str]:
        return draw_tables(self._lesson, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return examples_lines(self.nearest, width)

    def numbers(self) -> dict[str, Any]:
        return examples_to_json(self.nearest)

    def page(self) -> SealedPage:
        return tables_page(self._lesson, "examples")
