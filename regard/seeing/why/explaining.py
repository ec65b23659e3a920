"""A decision and what explains it: the request, maps with their trust, or tables of what happens inside a model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from regard.base.faults import Fault
from regard.loading import Loaded
from regard.seeing.trust.report import Trust, trust_in
from regard.seeing.why.decision import Question
from regard.seeing.why.gazing import USUAL, WhichAttention
from regard.seeing.why.interventions import Grid, ablate_heads, ablate_units, patch_from
from regard.seeing.why.lens import Lens, logit_lens
from regard.seeing.why.maps import METHODS, Map, every_map, log_probabilities, map_of
from regard.viewing.tables import MOST_COLUMNS, NumberTable, TableLesson, WordTable
from regard.viewing.written import visible_name

ALL = "all"
LENS, PATCHING, HEADS, UNITS = "lens", "patching", "heads", "units"
INSIDE = (LENS, PATCHING, HEADS, UNITS)  # methods that show what happens inside a model
CHOICES = (*METHODS, *INSIDE, ALL)
MOST_UNITS = 20  # feed-forward units listed


@dataclass(frozen=True)
class WhyRequest:
    """A decision to explain, and the method; a place and a word choose among the tokens of an output."""

    method: str
    output: str | None = None
    place: int | None = None  # counted from 0
    word: str | None = None
    layer: int | None = None  # of attention
    head: int | None = None
    tokens: bool = False  # show tokens instead of whole words
    other: Any = None  # the input whose states patching puts into this one
    trust: bool = False  # also say how far to trust the maps

    def __post_init__(self) -> None:
        if self.method not in CHOICES:
            raise Fault(f"There is no method '{self.method[:40]}'; the methods are {', '.join(CHOICES)}.")
        if self.which != USUAL and self.method != "attention":
            raise Fault(f"A layer and a head choose an attention; omit them with {self.method}.")
        if (self.other is None) == (self.method == PATCHING):
            needed = "Patching takes states from another input; give one to take them from (--from)."
            surplus = f"Another input to take states from goes with patching; omit it with {self.method}."
            raise Fault(needed if self.other is None else surplus)
        if self.trust and self.method in INSIDE:
            raise Fault(
                f"Only scores of the input's units can be trusted or not, and {self.method} gives none; omit trust."
            )

    @property
    def which(self) -> WhichAttention:
        return WhichAttention(self.layer, self.head)


@dataclass(frozen=True)
class Explained:
    """A decision, and what explains it: maps and how far to trust them, or tables of what happens inside the model."""

    question: Question
    method: str
    log_probability: float
    maps: Sequence[Map] = ()
    refusals: dict[str, str] = field(default_factory=dict)  # of methods without a meaning here
    trust: Sequence[Trust] = ()  # one for each map, if asked for
    tables: TableLesson | None = None

    def about(self) -> dict[str, Any]:
        """Return what is explained, as plain values."""
        question = self.question
        return {
            "text": question.text,
            "output": question.output,
            "chosen": question.chosen,
            "method": self.method,
            "log_probability": self.log_probability,
            "units": list(question.names),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return the maps as plain values."""
        rows: list[dict[str, Any]] = [{"method": found.method, "scores": list(found.scores)} for found in self.maps]
        for row, measured in zip(rows, self.trust, strict=False):
            row["trust"] = measured.numbers()
        return rows


def explain_question(model: Loaded, item: Any, question: Question, request: WhyRequest) -> Explained:
    """Return the answer to a question about an item, by one method or all of them, or from inside the model."""
    (log_probability,) = log_probabilities(question, question.inputs[None]).tolist()
    if request.method in INSIDE:
        return Explained(question, request.method, log_probability, tables=_tables_inside(model, question, request))
    maps, refusals = maps_for(question, request)
    trust = trust_in(model, item, question, maps) if request.trust else []
    return Explained(question, request.method, log_probability, maps, refusals, trust)


def title_of(question: Question) -> str:
    return f"Why “{visible_name(question.chosen)}”?"


def _tables_inside(model: Loaded, question: Question, request: WhyRequest) -> TableLesson:
    """Return what happens inside the model: what each block would write, and what changes when parts of it do."""
    if request.method == LENS:
        return _lens_tables(logit_lens(model, question))
    if request.other is not None:
        grids = [patch_from(model, question, request.other)]
    elif request.method == HEADS:
        grids = ablate_heads(model, question)
    else:
        return TableLesson(title_of(question), [_strongest_units(ablate_units(model, question))])
    return TableLesson(title_of(question), [_grid_table(grid) for grid in grids])


def _grid_table(grid: Grid) -> NumberTable:
    return NumberTable(grid.title, grid.rows, grid.columns, grid.values, grid.caption, 3, around_zero=True)


def _strongest_units(grid: Grid) -> NumberTable:
    """Return the units that matter most, with their blocks."""
    order = np.argsort(-np.abs(grid.values), axis=None, kind="stable")[:MOST_UNITS]
    places = list(zip(*np.unravel_index(order, grid.values.shape), strict=True))
    rows = [f"{grid.rows[block]}, unit {grid.columns[unit]}" for block, unit in places]
    caption = f"{grid.caption} These are the {len(rows)} of {grid.values.size:,} units that matter most."
    values = np.array([[grid.values[place]] for place in places])
    return NumberTable(grid.title, rows, ["log p lost"], values, caption, 4, around_zero=True)


def maps_for(question: Question, request: WhyRequest) -> tuple[list[Map], dict[str, str]]:
    """Return the requested maps, and for all methods the reasons why some have no meaning here."""
    if request.method == ALL:
        return every_map(question)
    return [map_of(question, request.method, request.which)], {}


def _lens_tables(lens: Lens) -> TableLesson:
    """Return the lens at the place that is explained, and at all places if there are few."""
    chosen, places = visible_name(lens.chosen), [visible_name(name) for name in lens.places]
    columns = ["after", "would write", f"p of “{chosen}”", "rank"]
    cells = [[row.layer, _named_shares(row.tokens), f"{row.probability:.3f}", f"{row.rank}"] for row in lens.rows]
    caption = "The state after each block, read as if it were the last: final norm, then output matrix."
    tables: list[NumberTable | WordTable] = [WordTable("At this place", columns, cells, caption)]
    if len(lens.places) <= MOST_COLUMNS:
        along = [[row.layer, *(visible_name(name) for name, _ in row.along)] for row in lens.rows]
        tables.append(WordTable("At every place", ["after", *places], along, "The most probable token."))
        shares = np.array([[share for _, share in row.along] for row in lens.rows])
        title = "Probability of that token"
        tables.append(NumberTable(title, [row.layer for row in lens.rows], places, shares))
    return TableLesson(f"Logit lens: “{chosen}”", tables)


def _named_shares(tokens: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{visible_name(name)} {share:.2f}" for name, share in tokens)
