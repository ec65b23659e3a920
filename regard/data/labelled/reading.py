"""Read examples from lines, rows of a table, or groups of three lines: a text, an aspect and a label."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from regard.base.faults import Fault
from regard.data.corpora.tables import is_table
from regard.data.corpora.text import choose_rows, file_of, join_cells, open_rows
from regard.data.generated.corpora import generated_opinions
from regard.data.labelled.options import LABEL, NUMBER, SECOND, TEXT, LabelledData
from regard.data.lines import read_lines
from regard.data.tables.columns import Column, Part, columns_in_words, named
from regard.data.tables.formats import MARKED_UP, NAMES, is_json_object, kind_by_name
from regard.data.tables.headers import looks_like_header
from regard.data.tables.reading import NamedTable, Table

ASPECT_PLACE = "$T$"
_SHOWN = 40  # characters of a line in a fault


class Example(NamedTuple):
    """A text and its label; `aspect` is the aspect in question or a second text, `number` the one in its table."""

    label: str
    text: str
    place: str  # for people
    aspect: str = ""
    number: str = ""
    before_aspect: str = ""  # the text before the aspect


def read_examples(options: LabelledData, name: str) -> Iterator[Example]:
    """Yield the examples of a file with their labels renamed; skip blank lines between them."""
    if options.format == "table":
        examples = _of_table(options, name)
    else:
        lines = ((number, line) for number, line in _numbered(options, name) if line.strip())
        examples = {"lines": _of_lines, "aspects": _of_aspects}[options.format](options, name, lines)
    for example in examples:
        if not example.text.strip():
            raise Fault(f"{example.place}: there is a label, '{example.label[:_SHOWN]}', but no text.")
        yield example._replace(label=options.names.get(example.label, example.label))


Lines = Iterator[tuple[int, str]]


def _numbered(options: LabelledData, name: str) -> Lines:
    if opinions := generated_opinions(name):
        return enumerate((f"{label} {text}" for label, text in opinions), 1)
    kind = kind_by_name(name)
    if kind in MARKED_UP or is_table(file_of(name)):
        raise Fault(
            f"{name} is {NAMES[kind] if kind else 'a table'}, but data.format is '{options.format}'; set "
            "data.format to 'table', and choose text and label, as in data.columns = 'text:label' or "
            "--columns text:label."
        )
    return enumerate(read_lines(file_of(name), encoding=options.encoding), 1)


def _of_lines(options: LabelledData, name: str, lines: Lines) -> Iterator[Example]:
    for count, (number, line) in enumerate(lines):
        label, _, text = line.partition(" ")
        if count == 0 and (is_json_object(line) or looks_like_header([label, text])):
            what = "a JSON object" if is_json_object(line) else "a line that names columns"
            raise Fault(
                f"{name}, line {number:,} is {what}, not a label, a space and a text; set data.format to 'table' and "
                "choose columns, as in --columns text:label, or remove the line."
            )
        if not label:
            raise Fault(f"{name}, line {number:,} begins with a space; it must be a label, a space and a text.")
        yield Example(label, text, f"{name}, line {number:,}")


def _of_table(options: LabelledData, name: str) -> Iterator[Example]:
    """Yield the examples in the rows of a table; columns are chosen, named by the file, or listed in order."""
    parts, listed = options.chosen, options.columns if isinstance(options.columns, list) else ()
    table = open_rows(name, parts, options.header, options.encoding, listed=listed)
    unit = "row" if isinstance(table, NamedTable) else "line"
    for number, row in _choose_listed(options, name, table) if not parts else _choose(table, parts):
        place = f"{name}, {unit} {number:,}"
        if not row[LABEL]:
            raise Fault(f"{place} has no label.")
        yield Example(row[LABEL], row[TEXT], place, row.get(SECOND, ""), row.get(NUMBER, ""))


NumberedRows = Iterator[tuple[int, dict[str, str]]]


def _choose(table: Table | NamedTable, parts: Sequence[Part]) -> NumberedRows:
    """Yield text, optional second text, and label of each row, by chosen columns."""
    names = [TEXT, SECOND, LABEL] if len(parts) > 2 else [TEXT, LABEL]
    ends = list(accumulate(map(len, parts)))
    for number, cells in choose_rows(table, parts):
        texts = (join_cells(cells[end - len(part) : end]) for part, end in zip(parts, ends, strict=True))
        yield number, dict(zip(names, texts, strict=True))


def _choose_listed(options: LabelledData, name: str, table: Table | NamedTable) -> NumberedRows:
    """Yield the listed columns of each row: by name if the file names them, otherwise in order."""
    listed = list(options.columns)
    if isinstance(table, NamedTable) or table.names:
        read = [column for column in listed if column in (LABEL, TEXT, SECOND, NUMBER)]
        if isinstance(table, Table) and (missing := [column for column in read if column not in table.names]):
            raise Fault(
                f"{name} has {columns_in_words(table.names, table.width)}, but none named '{missing[0]}'; "
                "choose text and label, as in data.columns = 'text:label' or --columns text:label."
            )
        for number, cells in choose_rows(table, named(*read)):
            yield number, dict(zip(read, (join_cells([cell]) for cell in cells), strict=True))
        return
    for number, cells in table.choose([Column(number=place) for place in range(1, len(listed) + 1)]):
        yield number, {column: join_cells([cell]) for column, cell in zip(listed, cells, strict=True)}


def _of_aspects(options: LabelledData, name: str, lines: Lines) -> Iterator[Example]:
    while three := list(islice(lines, 3)):
        first = three[0][0]
        if len(three) < 3:
            raise Fault(
                f"{name} ends with line {three[-1][0]:,}; each example needs three lines: a text, its aspect and "
                "a label."
            )
        text, aspect, label = (line.strip() for _, line in three)
        if ASPECT_PLACE not in text:
            raise Fault(f"{name}, line {first:,} has no {ASPECT_PLACE}, which stands for the aspect in the next line.")
        before = text.partition(ASPECT_PLACE)[0]
        yield Example(
            label, text.replace(ASPECT_PLACE, aspect), f"{name}, line {first:,}", aspect, before_aspect=before
        )


def first_digit(example: Example) -> int:
    """Return the first digit of an example's number."""
    for character in example.number:
        if character.isascii() and character.isdigit():
            return int(character)
    raise Fault(f"{example.place}: its number, '{example.number[:_SHOWN]}', has no digit to choose a fold by.")
