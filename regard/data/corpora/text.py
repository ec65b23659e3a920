"""Read corpora of sentence pairs from text files, tables and folders, in chunks of lines.

Chunks are decoded only when their pairs are requested, so that another process can do the slow part.
"""

import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.data.catalogue.entries import locate
from regard.data.corpora.folders import parallel_files
from regard.data.corpora.forms import read_form
from regard.data.corpora.memories import MemoryTable, is_memory, usual_languages
from regard.data.corpora.options import TAB, Corpus
from regard.data.corpora.tables import USUAL_COLUMNS, is_table, read_table, table_files
from regard.data.generated.corpora import generate
from regard.data.lines import decode_block, first_lines, raw_lines, read_lines, tell_of_beginning
from regard.data.tables.columns import Column, Part, columns_in_words, named, parse_columns
from regard.data.tables.formats import MARKED_UP, NAMES, TableKind, is_json_object, kind_by_name
from regard.data.tables.headers import looks_like_header
from regard.data.tables.reading import Cell, NamedTable, Row, Table, open_table

_LOG = logging.getLogger(__name__)
_CHUNK = 10_000
_LINE_ENDS = re.compile(r"\r\n|[\r\n\t]")
_SHOWN = 40  # characters of a cell in a remark
_IN_A_SET = re.compile(r"[\w-]+:")


@dataclass(frozen=True)
class Chunk:
    """Consecutive lines of a corpus, not yet decoded: one block of bytes for each of its files."""

    names: tuple[str, ...]
    first: int
    lines: int
    blocks: tuple[bytes, ...]
    separator: str
    unit: Literal["line", "pair"] = "line"  # what is counted; pairs made from something else have no lines

    def pairs(self) -> list[tuple[str, str]]:
        """Return the lines as pairs of sentences; invalid UTF-8 or a missing separator is a fault naming the line."""
        sides = [decode_block(*place, self.first) for place in zip(self.blocks, self.names, strict=True)]
        if len(sides) == 2:
            return list(zip(*sides, strict=True))
        return [self._part(line, number) for number, line in enumerate(sides[0], self.first)]

    def place(self, position: int) -> str:
        """Return where the pair at this position of the chunk stands, for people."""
        return f"{self.names[0]}, {self.unit} {self.first + position}"

    def further_columns(self) -> int:
        """Count the lines of a file of pairs that have more than two columns."""
        if len(self.blocks) == 2:
            return 0
        lines = decode_block(self.blocks[0], self.names[0], self.first)
        return sum(line.count(self.separator) > 1 for line in lines)

    def _part(self, line: str, number: int) -> tuple[str, str]:
        columns = line.split(self.separator, 2)
        if len(columns) < 2:
            between = "tab" if self.separator == TAB else f"separator {self.separator!r}"
            others = _count_without(self.separator, file_of(self.names[0])) - 1
            elsewhere = f" (nor in {others:,} more)" if others else ""
            raise Fault(
                f"{self.names[0]}, line {number}: there is no {between}{elsewhere}; each line must hold a "
                "sentence, the separator and its translation."
            )
        return columns[0], columns[1]


def _count_without(separator: str, path: Path) -> int:
    """Count the lines of a file without a separator."""
    lines = (unicodedata.normalize("NFC", line.decode("utf-8", "replace")) for line in raw_lines(path))
    return sum(separator not in line for line in lines)


def read_pairs(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a corpus, in order."""
    for chunk in read_chunks(corpus, _CHUNK):
        yield from chunk.pairs()


def read_chunks(corpus: Corpus, size: int) -> Iterator[Chunk]:
    """Yield a corpus in chunks of `size` lines; refuse files with different numbers of lines at the end."""
    for part in _parts(corpus):
        yield from _read_part(part, size)


def _parts(corpus: Corpus) -> list[Corpus]:
    """Return the corpus itself, or each pair of files in a folder of parallel files."""
    if corpus.pairs is None or corpus.is_generated or not (folder := file_of(corpus.pairs)).is_dir():
        return [corpus]
    if is_table(folder):  # one table, however many files it has
        return [corpus]
    if corpus.columns is None:
        raise Fault(
            f"{folder} is a folder; name a text file inside it or, for parallel files, their endings, such as "
            'columns = ["en", "de"].'
        )
    endings = [str(part[0]) for part in corpus.parts]
    return [Corpus(source=str(one), target=str(two)) for one, two in parallel_files(folder, endings)]


def input_names(corpus: Corpus) -> list[str]:
    """Return the names of all files that a corpus is read from."""
    if corpus.pairs is None or corpus.is_generated or not (folder := file_of(corpus.pairs)).is_dir():
        return [] if corpus.is_generated else list(corpus.names)
    if is_table(folder):
        return [f"{corpus.pairs}/{file.relative_to(folder)}" for file in table_files(folder)]
    return [name for part in _parts(corpus) for name in part.names]


def _read_part(corpus: Corpus, size: int) -> Iterator[Chunk]:
    is_tabular = _is_tabular(corpus)
    raw = [_columns(_read_columns(corpus))] if is_tabular else _lines_of(corpus)
    is_made = corpus.form or corpus.is_generated or is_tabular
    unit: Literal["line", "pair"] = "pair" if is_made else "line"
    separator = unicodedata.normalize("NFC", corpus.separator)  # as the lines will be
    first = 1
    while True:
        parts = [list(islice(lines, size)) for lines in raw]
        counts = [len(part) for part in parts]
        if counts[0] != counts[-1]:
            totals = [first - 1 + count + sum(1 for _ in lines) for count, lines in zip(counts, raw, strict=True)]
            raise Fault(
                f"{corpus.names[0]} has {quantity(totals[0], 'line')} and {corpus.names[1]} has {totals[1]:,}; "
                "each line of one must be the translation of the same line of the other."
            )
        if not counts[0]:
            return
        if first == 1:
            for lines, name in zip(parts, corpus.names, strict=True):
                tell_of_beginning(lines, name)
            if not is_made and corpus.pairs is not None:
                _tell_of_columns(parts[0][0], corpus.pairs, separator)
        yield Chunk(corpus.names, first, counts[0], tuple(b"".join(part) for part in parts), separator, unit)
        first += counts[0]


def file_of(name: str) -> Path:
    """Return the file that a recipe names by a path or by `SET:path`."""
    return locate(name) if _IN_A_SET.match(name) else Path(name).expanduser()


def _lines_of(corpus: Corpus) -> list[Iterator[bytes]]:
    """Return the lines of each file of a corpus; pairs generated or in another form become lines of two columns."""
    if corpus.form is not None:
        name = corpus.names[0]
        return [_columns(read_form(corpus.form, read_lines(file_of(name)), name))]
    if corpus.is_generated:
        return [_columns(generate(corpus.names[0]))]
    for name in corpus.names if corpus.pairs is None else ():
        if (kind := kind_by_name(name)) in MARKED_UP:
            raise Fault(f"{name} is {NAMES[kind]}, not lines of text; give it as pairs, with columns SOURCE:TARGET.")
    return [raw_lines(file_of(name)) for name in corpus.names]


def _is_tabular(corpus: Corpus) -> bool:
    """Return True if the pairs are rows of a table other than two columns of tab-separated text."""
    if corpus.pairs is None or corpus.is_generated or corpus.form is not None or corpus.separator != TAB:
        return False
    if corpus.columns is not None or corpus.header is not None or kind_by_name(corpus.pairs) not in ("tsv", None):
        return True
    path = file_of(corpus.pairs)
    if is_table(path):
        return True
    first = first_lines(path)
    cells = [line.split(TAB) for line in first]
    return bool(first) and (is_json_object(first[0]) or (len(cells[0]) > 1 and looks_like_header(cells[0], cells[1:])))


def _read_columns(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Yield the pairs in the rows of a table, each side on one line."""
    assert corpus.pairs is not None
    table = open_rows(corpus.pairs, corpus.parts, corpus.header)
    source, target = corpus.parts or _usual_parts(table)
    for row in choose_rows(table, [source, target]):
        sides = row.cells[: len(source)], row.cells[len(source) :]
        yield join_cells(sides[0]), join_cells(sides[1])


def _usual_parts(table: "Table | NamedTable") -> tuple[Part, ...]:
    """Return the default columns of source and target."""
    if isinstance(table, MemoryTable):
        return named(*usual_languages(table.file, table.path))
    if isinstance(table, NamedTable) or set(USUAL_COLUMNS) <= set(table.names):
        return tuple((Column(name),) for name in USUAL_COLUMNS)
    if table.width in (0, 2) or table.kind == "tsv":
        return parse_columns("1:2")
    raise Fault(
        f"{table.file} has {columns_in_words(table.names, table.width)}; choose source and target with "
        f"--columns, as in --columns {':'.join(table.names[:2]) or '1:2'}."
    )


class ArrowTable(NamedTable):
    """A parquet or Arrow file."""

    def choose(self, columns: Sequence[Column]) -> Iterator[Row]:
        """Return the rows with these columns; rows are numbered from 1."""
        if numbers := [column.number for column in columns if not column.name]:
            raise Fault(f"{self.file} names its columns; choose them by name, not by the number {numbers[0]}.")
        rows = read_table(file_of(self.file), [column.name for column in columns])
        return (Row(number, list(cells)) for number, cells in enumerate(rows, 1))


def open_rows(
    name: str,
    parts: Sequence[Part] = (),
    header: bool | None = None,
    encoding: str = "utf-8",
    usual: TableKind = "tsv",
    listed: Sequence[str] = (),
) -> "Table | NamedTable":
    """Open the table in a file, from which these columns will be chosen.

    `listed` are the columns that every row, or every word of a sentence, must have if the file does not name them.
    """
    path = file_of(name)
    if is_table(path):
        return ArrowTable(name)
    if is_memory(name):
        if header is not None:
            raise Fault(f"{name} is a translation memory, which has no header; omit that option.")
        return MemoryTable(name, path)
    by_name = any(column.name for part in parts for column in part)
    return open_table(name, read_lines(path, encoding=encoding), header, by_name, usual, listed)


def choose_rows(table: "Table | NamedTable", parts: Sequence[Part]) -> Iterator[Row]:
    """Return the rows of a table with the columns of these parts in order; warn about what is not read."""
    columns = [column for part in parts for column in part]
    rows = table.choose(columns)
    if isinstance(table, Table) and table.has_header:
        _LOG.warning(f"{table.file}: line 1 names the columns ({', '.join(table.names)}) and is skipped")
    if isinstance(table, Table) and table.width > len(columns):
        chosen = " : ".join(" + ".join(map(str, part)) for part in parts)
        _LOG.warning(f"{table.file} has {columns_in_words(table.names, table.width)}; only these are read: {chosen}")
    return rows


def join_cells(cells: Sequence[Cell]) -> str:
    """Join cells into one line of text, with spaces between them and in place of line ends."""
    texts = (" ".join(cell) if isinstance(cell, list) else cell for cell in cells)
    return " ".join(_LINE_ENDS.sub(" ", text) for text in texts if text)


def _tell_of_columns(line: bytes, name: str, separator: str) -> None:
    """Warn if the first line of pairs has more than two columns, and say which are used."""
    cells = line.decode("utf-8", "replace").rstrip("\r\n").split(separator)
    if len(cells) > 2:
        advice = "; choose others with --columns, as in --columns 1+3:2" if separator == TAB else ""
        _LOG.warning(
            f"{name} has {len(cells)} columns; the first two are used as source and target, as in "
            f"'{cells[0][:_SHOWN]}' → '{cells[1][:_SHOWN]}'{advice}"
        )


def _columns(pairs: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    return (f"{source}{TAB}{target}\n".encode() for source, target in pairs)
