"""Reading text: plain or compressed files, UTF-8 checked and brought to NFC, as lines and as pairs of sentences.

A line ends at a line feed and nowhere else: the other separators of Unicode are part of the text, or two files would
disagree about which line is which. A byte order mark at the beginning is no part of it, and the reader is told. Lines
are cut into chunks before they are decoded, so that the slow part can be done by another process.
"""

import gzip
import logging
import lzma
import re
import unicodedata
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import islice
from pathlib import Path
from typing import Literal

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.data.catalogue.entries import locate
from regard.data.catalogue.unpack import open_content
from regard.data.corpora.folders import parallel_files
from regard.data.corpora.forms import read_form
from regard.data.corpora.options import TAB, Corpus
from regard.data.corpora.tables import USUAL_COLUMNS, is_table, read_table, table_files
from regard.data.generated.corpora import generate

_LOG = logging.getLogger(__name__)
_CHUNK = 10_000
_BLOCK = 1 << 20  # bytes that are read at once
_IN_A_SET = re.compile(r"[\w-]+:")


@dataclass(frozen=True)
class Chunk:
    """Neighbouring lines of a corpus, not yet decoded: one block of bytes for each of its files."""

    names: tuple[str, ...]
    first: int
    lines: int
    blocks: tuple[bytes, ...]
    separator: str
    unit: Literal["line", "pair"] = "line"  # what is counted: where pairs are made of something else, its lines are not

    def pairs(self) -> list[tuple[str, str]]:
        """The lines as pairs of sentences; what is not UTF-8 or has no separator is a fault naming the line."""
        sides = [_decode_block(*place, self.first) for place in zip(self.blocks, self.names, strict=True)]
        if len(sides) == 2:
            return list(zip(*sides, strict=True))
        return [self._part(line, number) for number, line in enumerate(sides[0], self.first)]

    def place(self, position: int) -> str:
        """Where the pair at this position of the chunk stands, for people."""
        return f"{self.names[0]}, {self.unit} {self.first + position}"

    def further_columns(self) -> int:
        """How many lines of a file of pairs have more than a sentence and its translation."""
        if len(self.blocks) == 2:
            return 0
        lines = _decode_block(self.blocks[0], self.names[0], self.first)
        return sum(line.count(self.separator) > 1 for line in lines)

    def _part(self, line: str, number: int) -> tuple[str, str]:
        columns = line.split(self.separator, 2)
        if len(columns) < 2:
            between = "tab" if self.separator == TAB else f"separator {self.separator!r}"
            others = _count_without(self.separator, file_of(self.names[0])) - 1
            elsewhere = f" (nor in {others:,} more)" if others else ""
            raise Fault(
                f"{self.names[0]}, line {number}: there is no {between}{elsewhere}; "
                "a line must hold a sentence, the separator, its translation."
            )
        return columns[0], columns[1]


@dataclass(frozen=True)
class LineRange:
    """Neighbouring lines of a file: the number of the first, counted from 0, how many, and the byte they begin at."""

    first: int
    count: int
    start: int


def line_starts(path: Path, every: int) -> tuple[list[int], int]:
    """At which bytes of a file every so many lines begin, and how many lines it has; packed files count unpacked."""
    starts, start, count = list[int](), 0, 0
    raw = _raw_lines(path)
    while lines := list(islice(raw, every)):
        starts.append(start)
        start, count = start + sum(map(len, lines)), count + len(lines)
    return starts, count


def _count_without(separator: str, path: Path) -> int:
    """How many lines of a file have no separator."""
    lines = (unicodedata.normalize("NFC", line.decode("utf-8", "replace")) for line in _raw_lines(path))
    return sum(separator not in line for line in lines)


def read_lines(
    path: Path, normal: bool = True, encoding: str = "utf-8", part: LineRange | None = None
) -> Iterator[str]:
    """The lines of a text file, or a part of them, without their ends; in NFC, unless they are to stay as they are."""
    raw, first = _raw_lines(path), 1
    if part is not None:
        raw, first = islice(_raw_lines(path, part.start), part.count), part.first + 1
    while lines := list(islice(raw, _CHUNK)):
        if first == 1:
            _tell_of_mark(lines, str(path))
        yield from _decode_block(b"".join(lines), str(path), first, normal, encoding)
        first += len(lines)


def read_stream(stream: Iterable[bytes], name: str, normal: bool = True) -> Iterator[str]:
    """The lines of an open stream, each as soon as it has come; in NFC, unless they are to stay as they are."""
    for number, line in enumerate(stream, 1):
        if number == 1:
            _tell_of_mark([line], name)
        yield from _decode_block(line, name, number, normal)


def read_pairs(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """The pairs of a corpus, in order."""
    for chunk in read_chunks(corpus, _CHUNK):
        yield from chunk.pairs()


def read_chunks(corpus: Corpus, size: int) -> Iterator[Chunk]:
    """The lines of a corpus in chunks of `size`; files with different numbers of lines are refused at their ends."""
    for part in _parts(corpus):
        yield from _read_part(part, size)


def _parts(corpus: Corpus) -> list[Corpus]:
    """The corpus itself, or of a folder of parallel files each pair of them."""
    if corpus.pairs is None or corpus.is_generated or not (folder := file_of(corpus.pairs)).is_dir():
        return [corpus]
    if is_table(folder):  # one table, whatever files it has
        return [corpus]
    if corpus.columns is None:
        raise Fault(
            f"{folder} is a folder; name a text file inside it, or, of parallel files, their endings, such as "
            'columns = ["en", "de"].'
        )
    return [Corpus(source=str(one), target=str(two)) for one, two in parallel_files(folder, corpus.columns)]


def input_names(corpus: Corpus) -> list[str]:
    """The names of all files that a corpus is read from; a name that is no folder stands for itself."""
    if corpus.pairs is None or corpus.is_generated or not (folder := file_of(corpus.pairs)).is_dir():
        return [] if corpus.is_generated else list(corpus.names)
    if is_table(folder):
        return [f"{corpus.pairs}/{file.relative_to(folder)}" for file in table_files(folder)]
    return [name for part in _parts(corpus) for name in part.names]


def _read_part(corpus: Corpus, size: int) -> Iterator[Chunk]:
    raw = _lines_of(corpus)
    is_made = corpus.form or corpus.is_generated or _is_table(corpus)
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
                _tell_of_mark(lines, name)
        yield Chunk(corpus.names, first, counts[0], tuple(b"".join(part) for part in parts), separator, unit)
        first += counts[0]


def file_of(name: str) -> Path:
    """The file that a recipe means by a path or by `SET:path`."""
    return locate(name) if _IN_A_SET.match(name) else Path(name).expanduser()


def _lines_of(corpus: Corpus) -> list[Iterator[bytes]]:
    """The lines of each file of a corpus; pairs that are made, or held in another form, as lines of two columns."""
    if corpus.form is not None:
        name = corpus.names[0]
        return [_columns(read_form(corpus.form, read_lines(file_of(name)), name))]
    if corpus.is_generated:
        return [_columns(generate(corpus.names[0]))]
    if _is_table(corpus):
        return [_columns(read_table(file_of(corpus.names[0]), corpus.columns or USUAL_COLUMNS))]
    return [_raw_lines(file_of(name)) for name in corpus.names]


def _is_table(corpus: Corpus) -> bool:
    return corpus.pairs is not None and not corpus.is_generated and is_table(file_of(corpus.pairs))


def _columns(pairs: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    return (f"{source}{TAB}{target}\n".encode() for source, target in pairs)


def _raw_lines(path: Path, start: int = 0) -> Iterator[bytes]:
    """The lines of a file as bytes, decompressed, with their ends; from this byte of its content on."""
    if path.is_dir():
        raise Fault(f"{path} is a folder; name a text file inside it.")
    try:
        with open_content(path) as stream:
            _skip(stream, start)
            yield from stream
    except FileNotFoundError:
        raise Fault(f"There is no file {path}.") from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise Fault(f"{path} is damaged or not whole and cannot be decompressed ({error}).") from None
    except OSError as error:
        raise Fault(f"{path} cannot be read: {error.strerror or error}.") from None


def _skip(stream: BufferedIOBase, count: int) -> None:
    """Go on behind so many bytes of a stream, from its beginning; one that cannot leap is read so far."""
    if stream.seekable():
        stream.seek(count)
        return
    while count and (block := stream.read(min(count, _BLOCK))):
        count -= len(block)


def _tell_of_mark(lines: list[bytes], name: str) -> None:
    """Say of a text whose first lines these are that the mark it begins with is left out."""
    if lines and lines[0].startswith(BOM_UTF8):
        _LOG.warning(f"{name} begins with a byte order mark, which is no part of its text and is left out")


def _decode_block(block: bytes, name: str, first: int, normal: bool = True, encoding: str = "utf-8") -> list[str]:
    """The lines of a block whose first line has the number `first`."""
    try:
        text = block.decode(encoding)
    except UnicodeDecodeError as error:
        number = first + block.count(b"\n", 0, error.start)
        raise Fault(
            f"{name}, line {number}: not valid UTF-8 (byte 0x{block[error.start]:02x}); "
            "is the file in another encoding, or not text?"
        ) from None
    if first == 1:
        text = text.removeprefix("\ufeff")
    # A line feed neither joins nor is passed by anything in NFC, so whole blocks come out as their lines would.
    lines = (unicodedata.normalize("NFC", text) if normal else text).split("\n")
    if block.endswith(b"\n"):
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
