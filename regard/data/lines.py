"""Read lines of text files, plain or compressed, with UTF-8 checked and text normalised to NFC.

Only a line feed ends a line. Other Unicode separators belong to the text; otherwise two files could disagree about
which line is which. A byte order mark at the beginning is dropped with a warning. Lines can be grouped into blocks
before decoding, so that another process can do the slow part.
"""

import gzip
import logging
import lzma
import shlex
import unicodedata
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import islice
from pathlib import Path

from regard.base.faults import Fault
from regard.data.catalogue.unpack import most_held, open_content, packing

STANDARD_INPUT_NAME = "standard input"  # in remarks and faults
_LOG = logging.getLogger(__name__)
_TAKEN = 10_000  # lines decoded at once
_HELD = 1 << 24  # most bytes of lines held at once
_PEEKED = 20  # lines read to recognise a file's format
_BLOCK = 1 << 20  # bytes read at once
_SHORT_BLOCK = 1 << 16


@dataclass(frozen=True)
class LineRange:
    """Consecutive lines of a file: number of the first (from 0), number of lines, and first byte."""

    first: int
    count: int
    start: int


def read_lines(
    path: Path, normal: bool = True, encoding: str = "utf-8", part: LineRange | None = None
) -> Iterator[str]:
    """Yield the lines of a text file, or a part of them, without line ends; in NFC if `normal`."""
    raw, first = raw_lines(path), 1
    if part is not None:
        raw, first = islice(raw_lines(path, part.start), part.count), part.first + 1
    while lines := _take(raw, _TAKEN):
        if first == 1:
            tell_of_beginning(lines, str(path))
        yield from decode_block(b"".join(lines), str(path), first, normal, encoding)
        first += len(lines)


def read_stream(stream: Iterable[bytes], name: str, normal: bool = True) -> Iterator[str]:
    """Yield the lines of an open stream as they arrive; in NFC if `normal`."""
    for number, line in enumerate(stream, 1):
        if number == 1:
            tell_of_beginning([line], name)
        yield from decode_block(line, name, number, normal)


def first_lines(path: Path) -> list[str]:
    """Return the first lines of a file, to recognise its format; reading it later reports invalid UTF-8."""
    if path.is_fifo():
        return []
    raw = b"".join(islice(raw_lines(path), _PEEKED)).removeprefix(BOM_UTF8)
    return raw.decode("utf-8", "replace").splitlines()


def line_starts(path: Path, every: int) -> tuple[list[int], int]:
    """Return the byte offset of every `every`-th line and the number of lines; packed files count unpacked."""
    starts, start, count = list[int](), 0, 0
    raw = raw_lines(path)
    while lines := list(islice(raw, every)):
        starts.append(start)
        start, count = start + sum(map(len, lines)), count + len(lines)
    return starts, count


def _take(lines: Iterator[bytes], most: int) -> list[bytes]:
    """Take up to `most` lines, or fewer if they are long, to limit memory."""
    block, size = list[bytes](), 0
    for line in islice(lines, most):
        block.append(line)
        size += len(line)
        if size >= _HELD:
            break
    return block


def raw_lines(path: Path, start: int = 0) -> Iterator[bytes]:
    """Yield the lines of a file as decompressed bytes with their ends, from the byte `start` on."""
    with _opened(path) as stream:
        _skip(stream, start)
        yield from _lines_within(stream, path)


def raw_blocks(path: Path) -> Iterator[bytes]:
    """Yield a file as decompressed blocks of bytes, for formats whose lines may be of any length."""
    with _opened(path) as stream:
        while block := stream.read(_SHORT_BLOCK):
            yield block


@contextmanager
def _opened(path: Path) -> Iterator[BufferedIOBase]:
    """Open a file, packed or not; faults name it."""
    if path.is_dir():
        raise Fault(f"{path} is a folder; name a text file inside it.")
    try:
        with open_content(path) as stream:
            yield stream
    except FileNotFoundError:
        raise Fault(f"There is no file {path}.") from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise Fault(f"{path} is damaged or incomplete and cannot be decompressed ({error}).") from None
    except OSError as error:
        raise Fault(f"{path} cannot be read: {error.strerror or error}.") from None


def _lines_within(stream: BufferedIOBase, path: Path) -> Iterator[bytes]:
    """Yield the lines of a stream; raise EOFError if a line of a packed file unpacks to far too much."""
    if not packing(path.name):
        yield from stream
        return
    most = most_held(path.stat().st_size)
    while line := stream.readline(most + 1):
        if len(line) > most:
            raise EOFError(f"one of its lines unpacks to more than {most:,} bytes")
        yield line


def _skip(stream: BufferedIOBase, count: int) -> None:
    """Move a stream `count` bytes ahead from its beginning, by reading if it cannot seek."""
    if stream.seekable():
        stream.seek(count)
        return
    while count and (block := stream.read(min(count, _BLOCK))):
        count -= len(block)


def tell_of_beginning(lines: list[bytes], name: str) -> None:
    """Warn if a text, given its first lines, begins with a byte order mark or ends its lines with carriage returns."""
    if lines and lines[0].startswith(BOM_UTF8):
        _LOG.warning(f"{name} begins with a byte order mark, which is dropped")
    if len(lines) == 1 and lines[0].count(b"\r") > 1 and not lines[0].endswith(b"\n"):
        _LOG.warning(
            f"{name} is one line with carriage returns in it; if these end its lines, "
            + _how_to_convert(name, r"tr '\r' '\n'")
        )


def _how_to_convert(name: str, command: str) -> str:
    """Return advice to convert a text by a command that reads standard input; the name need not be that of a file."""
    if name == STANDARD_INPUT_NAME:
        return f"pipe it through: {command}"
    if packing(name) or not Path(name).is_file():
        return f"convert it by: {command}"
    return f"convert it: {command} < {shlex.quote(name)} > FILE"


def decode_block(block: bytes, name: str, first: int, normal: bool = True, encoding: str = "utf-8") -> list[str]:
    """Decode the lines of a block whose first line has the number `first`."""
    try:
        text = block.decode(encoding)
    except UnicodeDecodeError as error:
        number = first + block.count(b"\n", 0, error.start)
        wide = first == 1 and block.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        advice = f"it begins as UTF-16, so {_how_to_convert(name, 'iconv -f UTF-16 -t UTF-8')}"
        raise Fault(
            f"{name}, line {number}: not valid UTF-8 (byte 0x{block[error.start]:02x}); "
            + (advice if wide else "is the file in another encoding, or not text?")
        ) from None
    if first == 1:
        text = text.removeprefix("\ufeff")
    # NFC never combines or reorders across a line feed, so a whole block normalises as its lines would.
    lines = (unicodedata.normalize("NFC", text) if normal else text).split("\n")
    if block.endswith(b"\n"):
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
