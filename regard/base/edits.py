"""Records of edits: what to change inside a model while it runs, and for which model the record was made.

Blocks and heads count from 1, as pictures name them; places, units and rows count from 0, as gazes and tensors do.
`regard.attention.editing` applies them.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from regard.base.faults import Fault
from regard.base.figures import shorten
from regard.base.files import read_bounded, write_file
from regard.base.parsing import parse_json
from regard.base.recipe import Options, check, faults_of
from regard.base.version import __version__

FORMAT = 1
MOST_BYTES = 2**25  # of a record
MOST_EDITS = 1000  # in a record
MOST_PLACE = 2**31  # beyond any place
MOST_PLACES = 100_000  # named by an edit along one axis
MOST_NUMBERS = 2**21  # among the values of an edit

Part = Literal["weights", "head", "output", "state", "window"]
Deed = Literal["zero", "scale", "force", "move", "replace"]
Place = Annotated[int, Field(ge=0, lt=MOST_PLACE)]
Places = Annotated[tuple[Place, ...], Field(min_length=1, max_length=MOST_PLACES, strict=False)]

# Axes of the values of an edit, the last one last; fewer axes hold for all of the missing ones.
AXES: dict[Part, tuple[str, ...]] = {
    "weights": ("row", "head", "query", "key"),
    "head": ("row", "head", "query", "unit"),
    "output": ("row", "place", "unit"),
    "state": ("row", "place", "unit"),
    "window": ("row", "place", "number"),
}
_DEEDS: dict[Part, tuple[Deed, ...]] = {
    "weights": ("zero", "scale", "force", "move", "replace"),
    "head": ("zero", "scale", "replace"),
    "output": ("zero", "scale", "replace"),
    "state": ("zero", "scale", "replace"),
    "window": ("zero", "scale", "force", "replace"),
}


class _Fields(Options):
    """Fields of an edit, and the rules for combining them."""

    at: str = Field(
        min_length=1,
        max_length=200,
        description="An attention by side, block and head counted from 1, such as cross.3 or cross.3.2, or a module by "
        "its path, such as decoder.0.cross.look or encoder.2.feed_forward.",
    )
    part: Part = Field(
        default="weights",
        description="What changes there: attention weights, a head's output before heads are joined, a module's "
        "output, a recurrent state or a window.",
    )
    do: Deed = Field(
        description="zero; scale by a factor; force all weight onto keys; move weight from keys to another; or replace "
        "by values."
    )
    queries: Places | None = Field(default=None, description="Places that look, or places of an output; default: all.")
    keys: Places | None = Field(default=None, description="Places that are looked at.")
    units: Places | None = Field(default=None, description="Columns of an output or state; default: all.")
    rows: Places | None = Field(default=None, description="Rows of a batch; default: all.")
    to: Place | None = Field(default=None, description="Key that gets the moved weight.")
    by: float | None = Field(default=None, description="Factor of scale, or the share that move moves (default 1).")
    values: tuple[Any, ...] | None = Field(
        default=None,
        description="Numbers of replace or force: a list along keys or units, or lists of lists with the places, heads "
        "and rows before them.",
    )
    renormalise: bool = Field(default=True, description="Scale a query's weights so that they keep their sum.")

    @field_validator("queries", "keys", "units", "rows", mode="before")
    @classmethod
    def _as_tuple(cls, places: Any) -> Any:
        if isinstance(places, int) and not isinstance(places, bool):
            return (places,)
        if isinstance(places, Sequence) and not isinstance(places, str | bytes):
            if len(places) > MOST_PLACES:
                raise ValueError(f"{len(places):,} places are too many; at most {MOST_PLACES:,} can be named")
            if any(type(place) is not int or not 0 <= place < MOST_PLACE for place in places):
                raise ValueError("places are whole numbers, counted from 0")
            if len(set(places)) < len(places):
                raise ValueError("a place is named twice")
            return tuple(places)
        return places

    @field_validator("values", mode="before")
    @classmethod
    def _as_numbers(cls, values: Any) -> Any:
        if values is None:
            return None
        nested = values.tolist() if hasattr(values, "tolist") else values  # a tensor or an array
        if not isinstance(nested, list | tuple):
            raise ValueError("values are a list of numbers, or lists of lists")
        shape = _shape_of(nested)
        if math.prod(shape) > MOST_NUMBERS or math.prod(shape) == 0:
            raise ValueError(f"values have {math.prod(shape):,} numbers; give 1 to {MOST_NUMBERS:,}")
        return _checked(nested, shape)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for complaint in self._complaints():
            raise ValueError(complaint)
        return self

    def _complaints(self) -> Iterator[str]:
        """Yield what is wrong with the combination of fields."""
        part, do = self.part, self.do
        if do not in _DEEDS[part]:
            yield f"do {do!r} has no meaning for part {part!r}, which takes {', '.join(_DEEDS[part])}"
        if part == "weights" and self.units is not None:
            yield "units are columns of an output, and weights have none; name keys"
        if part != "weights" and (self.keys is not None or not self.renormalise):
            yield f"keys and renormalise belong to weights, not to part {part!r}"
        if (do == "move") != (self.to is not None):
            yield "do 'move' needs the key that gets the weight, in to" if do == "move" else f"do {do!r} takes no to"
        if self.by is not None and do not in ("scale", "move"):
            yield f"do {do!r} takes no by"
        if do == "scale" and self.by is None:
            yield "do 'scale' needs a factor, in by"
        if (self.values is not None) and do not in ("replace", "force"):
            yield f"do {do!r} takes no values"
        if self.values is None and (do == "replace" or (part, do) == ("window", "force")):
            yield f"do {do!r} needs values"
        if self.values is not None and len(self.shape) > len(AXES[part]):
            yield f"values are nested {len(self.shape)} deep, but {part} have only the axes {', '.join(AXES[part])}"
        if part == "weights":
            yield from self._complaints_of_weights()

    def _complaints_of_weights(self) -> Iterator[str]:
        do = self.do
        if self.keys is None and do != "replace":
            yield f"do {do!r} of weights needs keys; to switch a head off, zero its output with part 'head'"
        if do == "move" and self.keys is not None and self.to in self.keys:
            yield f"to is key {self.to}, which is also one of the keys that give weight"
        if do == "move" and self.by is not None and not 0 < self.by <= 1:
            yield "by is the share of the weight to move, above 0 and up to 1"
        if do == "scale" and self.by is not None and self.by < 0:
            yield "weights cannot be negative, so by is at least 0"
        if self.values is not None and min(_flat(self.values)) < 0:
            yield "weights cannot be negative, but values have a negative number"
        if do == "force" and self.values is not None:
            if len(self.shape) > 1 or len(self.values) != len(self.keys or ()):
                yield "do 'force' takes one value for each of its keys"
            elif sum(self.values) == 0:
                yield "values of do 'force' are all zero, which leaves no weight"
        if do == "force" and not self.renormalise and self.values is None:
            yield "do 'force' without values shares all weight equally, so renormalise has no meaning"

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes of `values`; none without values."""
        return () if self.values is None else _shape_of(self.values)

    def describe(self) -> str:
        """Return a sentence that says what is changed, and where."""
        rows = "" if self.rows is None else f" in {_named('row', self.rows)}"
        if self.part == "weights":
            queries = "every query" if self.queries is None else _named("query", self.queries)
            return f"{self.at}: {self._weights_deed()} from {queries}{rows}."
        what = {"head": "the head's output", "output": "the output", "state": "the state", "window": "the window"}
        units = "" if self.units is None else f", {_named('unit', self.units)},"
        places = "" if self.queries is None else f" at {_named('place', self.queries)}"
        deeds = {"zero": "is zero", "scale": f"is multiplied by {self.by:g}" if self.by is not None else ""}
        deed = deeds.get(self.do, "is replaced by given numbers")
        return f"{self.at}: {what[self.part]}{units} {deed}{places}{rows}."

    def _weights_deed(self) -> str:
        keys = "every key" if self.keys is None else _named("key", self.keys)
        match self.do:
            case "zero":
                return f"no weight on {keys}"
            case "scale":
                return f"weight on {keys} multiplied by {self.by:g}"
            case "force":
                return f"all weight on {keys}"
            case "move":
                share = "all" if self.by in (None, 1) else f"{self.by:.0%}"
                return f"{share} of the weight on {keys} moved to key {self.to}"
        return f"given weights on {keys}"


class Edit(_Fields):
    """One change inside a model: of attention weights, of a head's output, or of the output of any module.

    Weights are edited after normalising. With `renormalise`, a query's weights keep their sum: after `zero`, `scale`
    and `replace` all of them are multiplied by (sum before) / (sum after), and `values` of `force` are divided by their
    sum.
    """

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            at: str,
            do: Deed,
            part: Part = "weights",
            queries: int | Sequence[int] | None = None,
            keys: int | Sequence[int] | None = None,
            units: int | Sequence[int] | None = None,
            rows: int | Sequence[int] | None = None,
            to: int | None = None,
            by: float | None = None,
            values: Any = None,
            renormalise: bool = True,
        ) -> None: ...

    else:

        def __init__(self, **fields: Any) -> None:
            try:
                super().__init__(**fields)
            except ValidationError:
                check(_Fields, fields, "the edit")  # raises a fault with the same complaints
                raise


class Edits(Options):
    """A record of edits that can be saved, shown and replayed, and that another model refuses.

    `model` is the checksum of the weights that the edits were made for; None fits any model that has their places.
    """

    format: Literal[1] = 1
    version: str = Field(default=__version__, max_length=100, description="Version of regard that wrote the record.")
    model: str | None = Field(
        default=None, pattern="^[0-9a-f]{64}$", description="Checksum of the weights of the model that it belongs to."
    )
    edits: Annotated[tuple[Edit, ...], Field(strict=False, max_length=MOST_EDITS)]

    @field_validator("edits", mode="before")
    @classmethod
    def _number_faults(cls, edits: Any) -> Any:
        if not isinstance(edits, list | tuple) or len(edits) > MOST_EDITS:
            raise ValueError(f"a record holds a list of at most {MOST_EDITS:,} edits")
        return tuple(_edit_of(number, edit) for number, edit in enumerate(edits, start=1))

    def describe(self) -> list[str]:
        """Return a sentence for each edit."""
        return [edit.describe() for edit in self.edits]

    def save(self, path: str | Path) -> None:
        """Write the record as JSON."""
        write_file(Path(path), self.model_dump_json(indent=1, exclude_none=True).encode())

    @classmethod
    def load(cls, path: str | Path) -> "Edits":
        """Read a record, whose content need not be trusted."""
        path = Path(path)
        table = parse_json(read_bounded(path, MOST_BYTES), str(path), MOST_BYTES)
        if not isinstance(table, dict):
            raise Fault(f"{path} does not hold a record of edits.")
        with faults_of(path):
            if table.get("format", FORMAT) != FORMAT:  # another format may have other edits
                raise Fault(f"format is {shorten(repr(table['format']))}, expected {FORMAT}")
            record = check(Edits, table, "the record")
        if not record.edits:
            raise Fault(f"{path} holds no edits.")
        return record


def as_edits(edits: Edit | Sequence[Edit] | Edits) -> Edits:
    """Return edits as a record; edits that are not a record yet belong to no model in particular."""
    if isinstance(edits, Edits):
        return edits
    return Edits(edits=(edits,) if isinstance(edits, Edit) else tuple(edits))


def _edit_of(number: int, edit: Any) -> Edit:
    """Make one edit of a record; a fault names its number."""
    if isinstance(edit, Edit):
        return edit
    if not isinstance(edit, dict):
        raise ValueError(f"edit {number} is not a table of fields")
    try:
        return Edit(**edit)
    except Fault as fault:
        raise ValueError(f"edit {number}: {'; '.join(fault.sentences)}") from None


def _named(what: str, places: Sequence[int]) -> str:
    plural = {"query": "queries"}.get(what, f"{what}s")
    shown = ", ".join(map(str, places[:8])) + (f" and {len(places) - 8} more" if len(places) > 8 else "")
    return f"{what if len(places) == 1 else plural} {shown}"


def _shape_of(nested: Any) -> tuple[int, ...]:
    """Return the sizes of nested lists, judged by their first entries."""
    shape: list[int] = []
    while isinstance(nested, list | tuple):
        shape.append(len(nested))
        if len(shape) > max(map(len, AXES.values())) or not nested:
            break
        nested = nested[0]
    return tuple(shape)


def _checked(nested: Any, shape: tuple[int, ...]) -> Any:
    """Return nested tuples of finite numbers of this shape; refuse anything else."""
    if not shape:
        if type(nested) not in (int, float) or not math.isfinite(number := _as_float(nested)):
            raise ValueError("values have an entry that is not a finite number")
        return number
    if not isinstance(nested, list | tuple) or len(nested) != shape[0]:
        raise ValueError("values are not a full table: their lists have different lengths")
    return tuple(_checked(entry, shape[1:]) for entry in nested)


def _as_float(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _flat(nested: Any) -> Iterator[float]:
    if isinstance(nested, tuple):
        for entry in nested:
            yield from _flat(entry)
    else:
        yield nested
