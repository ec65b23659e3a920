"""The lines of text files, plain or compressed: UTF-8 checked and brought to NFC.

A line ends at a line feed and nowhere else: the other separators of Unicode are part of the text, or two files would
disagree about which line is which. A byte order mark at the beginning is no part of it, and the reader is told. Lines
can be cut into blocks before they are decoded, so that the slow part can be done by another process.
"""

import gzip
import logging
import lzma
import unicodedata
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import islice
from pathlib import Path

from regard.base.faults import Fault
from regard.data.catalogue.unpack import most_held, open_content, packing

_LOG = logging.getLogger(__name__)
_TAKEN = 10_000  # lines that are decoded at once
_HELD = 1 << 24  # bytes of them, at most
_PEEKED = 20  # lines by which a file is known for what it is
_BLOCK = 1 << 20  # bytes that are read at once


@dataclass(frozen=True)
class LineRange:
    """Neighbouring lines of a file: the number of the first, counted from 0, how many, and the byte they begin at."""

    first: int
    count: int
    start: int


def read_lines(
    path: Path, normal: bool = True, encoding: str = "utf-8", part: LineRange | None = None
) -> Iterator[str]:
    """The lines of a text file, or a part of them, without their ends; in NFC, unless they are to stay as they are."""
    raw, first = raw_lines(path), 1
    if part is not None:
        raw, first = islice(raw_lines(path, part.start), part.count), part.first + 1
    while lines := _take(raw, _TAKEN):
        if first == 1:
            tell_of_mark(lines, str(path))
        yield from decode_block(b"".join(lines), str(path), first, normal, encoding)
        first += len(lines)


def read_stream(stream: Iterable[bytes], name: str, normal: bool = True) -> Iterator[str]:
    """The lines of an open stream, each as soon as it has come; in NFC, unless they are to stay as they are."""
    for number, line in enumerate(stream, 1):
        if number == 1:
            tell_of_mark([line], name)
        yield from decode_block(line, name, number, normal)


def first_lines(path: Path) -> list[str]:
    """Return the first lines of a file, for a look at what it is; a byte that is no UTF-8 is told by who reads it."""
    if path.is_fifo():
        return []
    raw = b"".join(islice(raw_lines(path), _PEEKED)).removeprefix(BOM_UTF8)
    return raw.decode("utf-8", "replace").splitlines()


def line_starts(path: Path, every: int) -> tuple[list[int], int]:
    """At which bytes of a file every so many lines begin, and how many lines it has; packed files count unpacked."""
    starts, start, count = list[int](), 0, 0
    raw = raw_lines(path)
    while lines := list(islice(raw, every)):
        starts.append(start)
        start, count = start + sum(map(len, lines)), count + len(lines)
    return starts, count


def _take(lines: Iterator[bytes], most: int) -> list[bytes]:
    """Take so many lines, or as many as make up a few blocks: long ones are not held by the thousand."""
    taken, size = list[bytes](), 0
    for line in islice(lines, most):
        taken.append(line)
        size += len(line)
        if size >= _HELD:
            break
    return taken


def raw_lines(path: Path, start: int = 0) -> Iterator[bytes]:
    """The lines of a file as bytes, decompressed, with their ends; from this byte of its content on."""
    if path.is_dir():
        raise Fault(f"{path} is a folder; name a text file inside it.")
    try:
        with open_content(path) as stream:
            _skip(stream, start)
            yield from _lines_within(stream, path)
    except FileNotFoundError:
        raise Fault(f"There is no file {path}.") from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise Fault(f"{path} is damaged or not whole and cannot be decompressed ({error}).") from None
    except OSError as error:
        raise Fault(f"{path} cannot be read: {error.strerror or error}.") from None


def _lines_within(stream: BufferedIOBase, path: Path) -> Iterator[bytes]:
    """Yield the lines of a stream; in a packed file one that unpacks to far too much ends in an EOFError."""
    if not packing(path.name):
        yield from stream
        return
    most = most_held(path.stat().st_size)
    while line := stream.readline(most + 1):
        if len(line) > most:
            raise EOFError(f"one of its lines unpacks to more than {most:,} bytes")
        yield line


def _skip(stream: BufferedIOBase, count: int) -> None:
    """Go on behind so many bytes of a stream, from its beginning; one that cannot leap is read so far."""
    if stream.seekable():
        stream.seek(count)
        return
    while count and (block := stream.read(min(count, _BLOCK))):
        count -= len(block)


def tell_of_mark(lines: list[bytes], name: str) -> None:
    """Say of a text whose first lines these are that the mark it begins with is left out."""
    if lines and lines[0].startswith(BOM_UTF8):
        _LOG.warning(f"{name} begins with a byte order mark, which is no part of its text and is left out")


def decode_block(block: bytes, name: str, first: int, normal: bool = True, encoding: str = "utf-8") -> list[str]:
    """The lines of a block whose first line has the number `first`."""
    try:
        text = block.decode(encoding)
    except UnicodeDecodeError as error:
        number = first + block.count(b"\n", 0, error.start)
        wide = first == 1 and block.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        advice = f"it begins as UTF-16, so convert it: iconv -f UTF-16 -t UTF-8 {name} > FILE"
        raise Fault(
            f"{name}, line {number}: not valid UTF-8 (byte 0x{block[error.start]:02x}); "
            + (advice if wide else "is the file in another encoding, or not text?")
        ) from None
    if first == 1:
        text = text.removeprefix("\ufeff")
    # A line feed neither joins nor is passed by anything in NFC, so whole blocks come out as their lines would.
    lines = (unicodedata.normalize("NFC", text) if normal else text).split("\n")
    if block.endswith(b"\n"):
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
