"""Views of why a model decided as it did: a map, all maps side by side, the logit lens, and what edits change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from regard.base.progress import Remark, ignore_remark
from regard.loading import Loaded
from regard.seeing.why.decision import Question
from regard.seeing.why.explaining import Explained, explain_question, title_of
from regard.seeing.why.explaining import WhyRequest as WhyRequest
from regard.seeing.why.maps import Map
from regard.seeing.why.page import looks_of, page_fields
from regard.seeing.why.question import ask
from regard.viewing.canvas import show_word
from regard.viewing.drawers import drawing_of
from regard.viewing.reasons import DrawnReasons
from regard.viewing.sealed import SealedPage
from regard.viewing.sides import Nodes, Words
from regard.viewing.tables import MOST_ROWS, NumberTable, TableLesson, WordTable, tables_lines
from regard.viewing.view import Drawing, DrawingRequest, View

# What a score of each method means, below its table.
CAPTIONS = {
    "attention": "The attention weights from the place that decides.",
    "rollout": "The share of each unit after all blocks, by products of attention weights.",
    "flow": "The most that can flow from the decision to each unit through all attention weights.",
    "gradient": "How steeply log p changes with the unit's vector.",
    "input-x-gradient": "The change of log p without the unit, if log p were linear.",
    "integrated-gradients": "The unit's share of log p(input) − log p(baseline); the scores add up to it.",
    "occlusion": "What log p loses when a vector that says nothing takes the unit's place.",
    "leave-one-out": "What log p loses when the unit is taken out of the input.",
}
_SHARES = "Scores of each method, divided by the sum of their absolute values; negative ones spoke against the output."


def view_why(model: Loaded, item: Any, request: WhyRequest, remark: Remark = ignore_remark) -> View:
    """Return a view of why a model decided so, by one method or all of them, or of what happens inside it."""
    question = ask(model, item, request.output, request.place, request.word)
    found = explain_question(model, item, question, request)
    heading = f"{show_word(question.text)} → {show_word(question.output)}"
    data = page_fields(found) | {"title": heading}
    if found.tables is not None:
        return View(heading, DrawnReasons(found.tables, data), found.about())
    of_maps = (f"{each.method}: {text}" for each in found.maps for text in each.remarks)
    for text in dict.fromkeys([*found.refusals.values(), *of_maps]):
        remark(text)
    drawing = _drawing(found, request.tokens, data)
    return View(heading, drawing, found.about() | {"maps": found.rows(), "refused": found.refusals})


def _drawing(found: Explained, tokens: bool, data: dict[str, Any]) -> Drawing:
    """Return the maps over a picture, a video or a sound, or as a table of units, and how far to trust them.

    `data` is what a page of words shows.
    """
    title = title_of(found.question)
    measured = list(zip([each.method for each in found.maps], found.trust, strict=False))
    figures = [own.table(method) for method, own in measured]
    if looks := looks_of(found.question, found.maps, title):
        drawing = drawing_of(looks, DrawingRequest())
        if not measured:
            return drawing
        sentences = "; ".join(own.sentence(method) for method, own in measured)
        titled = drawing_of(replace(looks, text=f"{title} {sentences}"), DrawingRequest())
        return _MeasuredMaps(drawing, titled, figures)
    return DrawnReasons(TableLesson(title, [*_tables(found.question, found.maps, tokens), *figures]), data)


@dataclass(frozen=True)
class _MeasuredMaps:
    """Maps over a picture, a video or a sound, with figures: tables in the terminal, or in the title of a picture."""

    drawing: Drawing
    titled: Drawing
    figures: Sequence[WordTable]

    def draw(self, path: Path) -> set[str]:
        return self.titled.draw(path)

    def lines(self, width: int, colour: bool) -> list[str]:
        _, *tables = tables_lines(TableLesson("", self.figures), width)
        return [*self.drawing.lines(width, colour), *tables]

    def numbers(self) -> dict[str, Any]:
        return self.drawing.numbers()

    def page(self) -> SealedPage:
        return self.titled.page()


def _tables(question: Question, maps: Sequence[Map], tokens: bool) -> list[NumberTable | WordTable]:
    """Return tables of units and methods; with several methods, scores are shares, so that they can be compared."""
    names, scores = _by_word(question, maps, tokens)
    if len(maps) > 1:
        scores = scores / np.maximum(np.abs(scores).sum(axis=0), 1e-30)
        caption = _SHARES
    else:
        caption = CAPTIONS[maps[0].method]
    order = np.arange(len(names))
    if isinstance(question.side, Nodes) and len(names) > MOST_ROWS:
        order = np.argsort(-np.abs(scores[:, 0]), kind="stable")[:MOST_ROWS]
        caption = f"The {MOST_ROWS} of {len(names)} nodes with the largest scores. {caption}"
    columns, most = [found.method for found in maps], float(np.abs(scores).max())
    digits = 2 if most >= 1 else 3 if most >= 0.1 else 4
    pieces = [order[first : first + MOST_ROWS] for first in range(0, len(order), MOST_ROWS)]
    return [
        NumberTable(
            _piece_title(number, len(pieces)),
            [names[row] for row in piece],
            columns,
            scores[piece],
            caption if number == len(pieces) - 1 else "",
            digits,
            around_zero=True,
        )
        for number, piece in enumerate(pieces)
    ]


def _piece_title(number: int, count: int) -> str:
    return "Units of the input" if count == 1 else f"Units of the input, part {number + 1} of {count}"


def _by_word(question: Question, maps: Sequence[Map], tokens: bool) -> tuple[list[str], np.ndarray]:
    """Return the names of units and scores (unit, method); tokens of one word are added up unless `tokens` is set."""
    scores, side = np.array([found.scores for found in maps]).T, question.side
    if tokens or not isinstance(side, Words):
        return list(question.names), scores
    joined = np.zeros((len(side.words), len(maps)))
    np.add.at(joined, np.array(side.places), scores)
    return list(side.words), joined
