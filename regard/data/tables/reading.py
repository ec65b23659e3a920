"""Read tables of any format row by row, with the requested columns.

A cell is a text or, in CoNLL files and JSON lists, the words of a sentence. Rows are read as needed, so a table may be
of any size.
"""

import csv
import json
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

from regard.base.faults import Fault
from regard.data.tables.columns import Column, columns_in_words, place_of
from regard.data.tables.conll import Sentences
from regard.data.tables.formats import NAMES, TableKind, kind_of_table
from regard.data.tables.headers import looks_like_header

Cell = str | list[str]

_PEEKED = 20  # rows examined before the first is used
_LONGEST_CELL = 2**24  # characters
_DELIMITERS = ",;\t|"
_SHOWN = 40  # characters of a line in a fault


class Row(NamedTuple):
    """The chosen cells of a row, and the number of its first line."""

    number: int
    cells: list[Cell]


@dataclass(frozen=True)
class NamedTable(ABC):
    """A table whose columns are chosen by name alone."""

    file: str

    @abstractmethod
    def choose(self, columns: Sequence[Column]) -> Iterator[Row]:
        """Return the rows with these columns, in this order."""


class _Record(NamedTuple):
    number: int
    cells: Any


class Table:
    """An open table: its columns and its rows.

    `names` is empty if the file does not name its columns. `has_header` is True if its first line does.
    """

    def __init__(
        self,
        file: str,
        kind: TableKind,
        lines: Iterable[str],
        header: bool | None,
        by_name: bool,
        listed: Sequence[str],
    ) -> None:
        self.file, self.kind = file, kind
        self.sentences: Sentences | None = None
        self.names: list[str] = []
        self.has_header = False
        if kind in ("conll", "conllu"):
            self.sentences = Sentences(file, lines, kind == "conllu", listed if kind == "conll" else ())
            self.names, self.width = self.sentences.names, self.sentences.width
            self.has_header = self.sentences.has_header
            return
        records = _READERS[kind](file, lines)
        peeked = list(islice(records, _PEEKED + 1))
        if kind == "jsonl":
            self.names = _keys(peeked[0].cells) if peeked else []
        elif peeked and (header or (header is None and (by_name or _looks_headed(peeked)))):
            self.has_header = True
            self.names = [name.strip() for name in peeked.pop(0).cells]
        self._listed = () if self.names else tuple(listed)
        self.width = len(self.names or self._listed) or (len(peeked[0].cells) if peeked else 0)
        self._records = chain(peeked, records)

    def choose(self, columns: Sequence[Column]) -> Iterator[Row]:
        """Return the rows with these columns, in this order."""
        if self.sentences is None and not self.width:
            return iter(())
        places = [place_of(column, self.names, self.width, self.file) for column in columns]
        if self.sentences is not None:
            return (Row(number, [words[place] for place in places]) for number, words in self.sentences)
        return self._objects(places) if self.kind == "jsonl" else self._delimited(places)

    def _delimited(self, places: Sequence[int]) -> Iterator[Row]:
        enough, is_exact = max(places, default=0) + 1, self.kind == "csv" or bool(self._listed)
        for number, cells in self._records:
            if len(cells) < enough or (is_exact and len(cells) != self.width):
                expected = columns_in_words(self.names or self._listed, self.width)
                raise Fault(
                    f"{self.file}, line {number:,} has {columns_in_words((), len(cells))}, expected {expected}"
                    f"{_advice(self.kind)}."
                )
            yield Row(number, [cells[place] for place in places])

    def _objects(self, places: Sequence[int]) -> Iterator[Row]:
        for number, record in self._records:
            yield Row(number, [_value(record, self.names[place], f"{self.file}, line {number:,}") for place in places])


def open_table(
    file: str,
    lines: Iterable[str],
    header: bool | None = None,
    by_name: bool = False,
    usual: TableKind = "tsv",
    listed: Sequence[str] = (),
) -> Table:
    """Open a table of these lines, which have no line feeds.

    Without `header`, the first line is examined, unless columns are chosen `by_name`: then it must name them. `usual`
    is the format of a file if neither its name nor its first lines say otherwise. `listed` are the columns that every
    row, or every word of a sentence, must have if the file does not name them.
    """
    remaining = iter(lines)
    first = list(islice(remaining, _PEEKED))
    kind = kind_of_table(file, first, usual)
    if header is not None and kind not in ("tsv", "csv"):
        raise Fault(f"{file} is {NAMES[kind]}, which has no header; omit that option.")
    if header is False and by_name:
        raise Fault(f"{file} is read without a header, so choose its columns by number.")
    return Table(file, kind, chain(first, remaining), header, by_name, listed)


def _looks_headed(peeked: Sequence[_Record]) -> bool:
    return looks_like_header(peeked[0].cells, [record.cells for record in peeked[1:]])


def _advice(kind: TableKind) -> str:
    return "; put cells that hold the delimiter in double quotes" if kind == "csv" else ", separated by tabs"


def _read_tabs(file: str, lines: Iterable[str]) -> Iterator[_Record]:
    return (_Record(number, line.split("\t")) for number, line in enumerate(lines, 1) if line.strip())


def _read_csv(file: str, lines: Iterable[str]) -> Iterator[_Record]:
    remaining = iter(lines)
    first = list(islice(remaining, 1))
    csv.field_size_limit(_LONGEST_CELL)
    whole = (f"{line}\n" for line in chain(first, remaining))
    reader = csv.reader(whole, delimiter=_delimiter("".join(first)), strict=True)
    begins = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield _Record(begins, cells)
            begins = reader.line_num + 1
    except csv.Error as error:
        reason = "a quoted cell that does not end" if "end of data" in str(error) else str(error)
        raise Fault(f"{file}, line {begins:,} is not a row of a CSV file: {reason}.") from None


def _delimiter(line: str) -> str:
    """Return the delimiter of a line, ignoring quoted text; a comma if there is none."""
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=lambda delimiter: (outside.count(delimiter), delimiter == ","))


def _read_objects(file: str, lines: Iterable[str]) -> Iterator[_Record]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            shown = line[:_SHOWN]
            raise Fault(f"{file}, line {number:,} is not a JSON object: '{shown}'; each line must be one.")
        yield _Record(number, record)


_READERS = {"tsv": _read_tabs, "csv": _read_csv, "jsonl": _read_objects}


def _keys(record: dict[str, Any], above: str = "") -> list[str]:
    """Return the names of all values in an object; nested ones are joined by a dot, as in translation.en."""
    names = []
    for key, value in record.items():
        names += _keys(value, f"{above}{key}.") if isinstance(value, dict) and value else [f"{above}{key}"]
    return names


def _value(record: dict[str, Any], name: str, place: str) -> Cell:
    value = record.get(name, record)
    if value is record:
        for key in name.split("."):
            if not isinstance(value, dict) or key not in value:
                raise Fault(f"{place} has no '{name}'; it has {', '.join(_keys(record)) or 'nothing'}.")
            value = value[key]
    if isinstance(value, list) and all(isinstance(word, str | int) for word in value):
        return list(map(_text, value))
    if isinstance(value, dict | list):
        raise Fault(f"{place}: '{name}' is {'an object' if isinstance(value, dict) else 'a list'}, not a text.")
    text = _text(value)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise Fault(f"{place}: '{name}' has half of a surrogate pair, which is not a character.")
    return text


def _text(value: Any) -> str:
    """Return a JSON value as text: null as nothing; true and 3 as written."""
    if value is None:
        return ""
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else json.dumps(value)
