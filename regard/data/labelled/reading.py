"""Examples as they stand in files: lines, rows of a table, or three lines with a text, an aspect and a label."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.data.corpora.text import file_of, read_lines
from regard.data.generated.corpora import generated_opinions
from regard.data.labelled.options import LABEL, NUMBER, SECOND, TEXT, LabelledData

ASPECT_PLACE = "$T$"
_SHOWN = 40  # characters of a line in a fault


class Example(NamedTuple):
    """A text and its label; `aspect` is what it is asked about, or a second text, `number` the one in its table."""

    label: str
    text: str
    place: str  # for people
    aspect: str = ""
    number: str = ""
    before_aspect: str = ""  # what of the text stands before the aspect


def read_examples(options: LabelledData, name: str) -> Iterator[Example]:
    """The examples of a file, labels as they are called; blank lines between them are passed over."""
    lines = ((number, line) for number, line in _numbered(options, name) if line.strip())
    found = {"lines": _of_lines, "table": _of_table, "aspects": _of_aspects}[options.format](options, name, lines)
    for example in found:
        if not example.text.strip():
            raise Fault(f"{example.place}: there is a label, '{example.label[:_SHOWN]}', and no text.")
        yield example._replace(label=options.names.get(example.label, example.label))


Lines = Iterator[tuple[int, str]]


def _numbered(options: LabelledData, name: str) -> Lines:
    if opinions := generated_opinions(name):
        return enumerate((f"{label} {text}" for label, text in opinions), 1)
    return enumerate(read_lines(file_of(name), encoding=options.encoding), 1)


def _of_lines(options: LabelledData, name: str, lines: Lines) -> Iterator[Example]:
    for number, line in lines:
        label, _, text = line.partition(" ")
        if not label:
            raise Fault(f"{name}, line {number:,} begins with a space; a label, a space and a text are needed.")
        yield Example(label, text, f"{name}, line {number:,}")


def _of_table(options: LabelledData, name: str, lines: Lines) -> Iterator[Example]:
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) != len(options.columns):
            expected = f"the {len(options.columns)} columns {', '.join(options.columns)}"
            raise Fault(
                f"{name}, line {number:,} has {quantity(len(cells), 'column')}, expected {expected}, separated by tabs."
            )
        row = dict(zip(options.columns, cells, strict=True))
        if not row[LABEL]:
            raise Fault(f"{name}, line {number:,} has no label.")
        yield Example(row[LABEL], row[TEXT], f"{name}, line {number:,}", row.get(SECOND, ""), row.get(NUMBER, ""))


def _of_aspects(options: LabelledData, name: str, lines: Lines) -> Iterator[Example]:
    while three := list(islice(lines, 3)):
        first = three[0][0]
        if len(three) < 3:
            raise Fault(f"{name} ends with line {three[-1][0]:,}: a text, its aspect and a label are three lines.")
        text, aspect, label = (line.strip() for _, line in three)
        if ASPECT_PLACE not in text:
            raise Fault(f"{name}, line {first:,} has no {ASPECT_PLACE}, which stands for the aspect in the next line.")
        before = text.partition(ASPECT_PLACE)[0]
        yield Example(
            label, text.replace(ASPECT_PLACE, aspect), f"{name}, line {first:,}", aspect, before_aspect=before
        )


def first_digit(example: Example) -> int:
    """The first digit of an example's number."""
    for character in example.number:
        if character.isascii() and character.isdigit():
            return int(character)
    raise Fault(f"{example.place}: its number, '{example.number[:_SHOWN]}', has no digit to tell its fold by.")
