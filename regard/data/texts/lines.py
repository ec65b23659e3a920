"""The lines of the files that a recipe names, as the text that is learnt from."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.data.corpora.text import file_of, read_lines
from regard.data.texts.contractions import contract
from regard.data.texts.options import LanguageData, TextFile
from regard.data.tokenisers.spaces import split_at_spaces
from regard.data.tokenisers.wordpiece import UNKNOWN
from regard.data.tokenisers.words import spaced, split_words


class Line(NamedTuple):
    """The text of a line and where it stands."""

    file: str
    number: int
    text: str


def lines_of_split(options: LanguageData, split: str) -> Iterator[Line]:
    """The lines of a split: those of its files, or some of the training text."""
    files = getattr(options, split) or options.train
    lines = (Line(name_of(file), *each) for file in files for each in _text_lines(options, file))
    if not options.held_out or split not in ("train", *options.held_out):
        return lines
    own = options.lines_of(split, sum(1 for file in options.train for _ in _numbered(file)))
    return islice(lines, own.start, own.stop)


def name_of(file: str | TextFile) -> str:
    """The name of a file, as `SET:path` or as a path."""
    return file if isinstance(file, str) else file.file


def _text_lines(options: LanguageData, file: str | TextFile) -> Iterator[tuple[int, str]]:
    """The lines of a file that are read, by their numbers, and the text of each, spelt as the options say."""
    change = _changes(file) if isinstance(file, TextFile) else None
    for number, line in _numbered(file):
        yield number, options.spell(line if change is None else change(line, number))


def _numbered(file: str | TextFile) -> Iterator[tuple[int, str]]:
    if isinstance(file, str):
        return enumerate(read_lines(file_of(file)), 1)
    lines = enumerate(read_lines(file_of(file.file), encoding=file.encoding), 1)
    return ((number, line) for number, line in lines if file.has(number))


def _changes(file: TextFile) -> Callable[[str, int], str]:
    """What is done to each line of a file."""

    def change(line: str, number: int) -> str:
        if file.column is not None:
            columns = line.split("\t")
            if len(columns) < file.column:
                raise Fault(
                    f"{file.file}, line {number:,} has {quantity(len(columns), 'column')}, separated by tabs; "
                    f"there is no column {file.column}."
                )
            line = columns[file.column - 1]
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
