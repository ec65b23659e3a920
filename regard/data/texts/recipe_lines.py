"""Lines of the files that a recipe names, as the text to learn from."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from regard.base.faults import Fault
from regard.data.corpora.text import choose_rows, file_of, open_rows
from regard.data.generated.corpora import generated_lines
from regard.data.lines import first_lines, read_lines
from regard.data.tables.formats import MARKED_UP, NAMES, is_json_object, kind_by_name
from regard.data.texts.contractions import contract
from regard.data.texts.options import LanguageData, TextFile
from regard.data.tokenisers.spaces import split_at_spaces
from regard.data.tokenisers.wordpiece import UNKNOWN
from regard.data.tokenisers.words import spaced, split_words


class Line(NamedTuple):
    """The text of a line, its file and its number."""

    file: str
    number: int
    text: str


def lines_of_split(options: LanguageData, split: str) -> Iterator[Line]:
    """Yield the lines of a split: those of its files, or part of the training text."""
    files = getattr(options, split) or options.train
    lines = (Line(name_of(file), *numbered) for file in files for numbered in _text_lines(options, file))
    if not options.held_out or split not in ("train", *options.held_out):
        return lines
    line_range = options.lines_of(split, sum(1 for file in options.train for _ in numbered_lines(file)))
    return islice(lines, line_range.start, line_range.stop)


def name_of(file: str | TextFile) -> str:
    """Return the name of a file, as `SET:path` or as a path."""
    return file if isinstance(file, str) else file.file


def _text_lines(options: LanguageData, file: str | TextFile) -> Iterator[tuple[int, str]]:
    """Yield the numbers of the lines to read in a file, and their texts, spelled as the options say."""
    change = _changes(file) if isinstance(file, TextFile) else None
    for number, line in numbered_lines(file):
        yield number, options.spell(line if change is None else change(line))


def numbered_lines(file: str | TextFile) -> Iterator[tuple[int, str]]:
    """Yield the lines to read in a file, with their numbers."""
    source = file if isinstance(file, TextFile) else TextFile(file=file)
    if (generated := generated_lines(source.file)) is not None:
        lines: Iterator[tuple[int, str]] = iter(enumerate(generated, 1))
    elif source.columns:
        lines = _in_columns(source)
    else:
        if not source.as_lines:
            _refuse_table(source.file)
        lines = enumerate(read_lines(file_of(source.file), encoding=source.encoding), 1)
    return ((number, line) for number, line in lines if source.has(number))


def _in_columns(file: TextFile) -> Iterator[tuple[int, str]]:
    """Yield the text in the rows of a table; a text with several lines gives several lines."""
    table = open_rows(file.file, [file.columns], file.header, file.encoding)
    for number, cells in choose_rows(table, [file.columns]):
        texts = (" ".join(cell) if isinstance(cell, list) else cell for cell in cells)
        for line in " ".join(filter(None, texts)).replace("\r\n", "\n").split("\n"):
            yield number, line


def _refuse_table(name: str) -> None:
    """Refuse a file whose lines belong to a table, of which only a column is text."""
    kind = kind_by_name(name)
    if kind is None and [is_json_object(line) for line in first_lines(file_of(name))[:2]] == [True, True]:
        kind = "jsonl"
    if kind in MARKED_UP:
        raise Fault(
            f"{name} is {NAMES[kind]}, which is not plain text; choose the column of the text with --columns NAME, "
            'or in a recipe with { file = "…", column = "NAME" }. To learn whole lines, set as_lines = true there.'
        )


def _changes(file: TextFile) -> Callable[[str], str]:
    """Return a function that changes each line of a file as its options say."""

    def change(line: str) -> str:
        if file.label:
            line = line.partition(" ")[2]
        if file.unknown is not None:
            line = line.replace(file.unknown, UNKNOWN)
        if file.tag_mark is not None:
            line = " ".join(word.rpartition(file.tag_mark)[0] or word for word in split_at_spaces(line))
        if file.contract is not None:
            line = " ".join(contract(split_at_spaces(line), file.contract))
        if file.join_words:
            line = "".join(spaced(split_at_spaces(line)))
        return " ".join(split_words(line)) if file.split_words else line

    return change
