"""Files of word vectors: recognise their format, read and write them, plain or compressed."""

import gzip
import lzma
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Literal, cast

from regard.base.faults import Fault
from regard.base.files import whole_file
from regard.base.progress import Progress, Remark, ignore_remark, silent
from regard.data.catalogue.unpack import open_content, packing
from regard.data.vectors.binary import binary_blocks, read_binary
from regard.data.vectors.gathering import Gathering
from regard.data.vectors.text import read_text, text_blocks, width_of_line
from regard.data.vectors.word_vectors import WordVectors

Format = Literal["word2vec", "word2vec-binary", "glove", "fasttext"]

_HEADER = re.compile(rb"[ \t]*(\d{1,12})[ \t]+(\d{1,12})[ \t\r]*")
_START = 1 << 18  # bytes read to recognise a format: more than the first line has
_BLOCK = 1 << 20  # bytes read at once
_WIDEST = 10_000  # numbers of one vector
_CONTROLS = re.compile(rb"[\0-\x08\x0e-\x1f]")
_SPACE = re.compile(r"[\0\t-\r ]")
# Other files that users may try, by their first bytes.
_OTHERS: dict[bytes, str] = {
    b"\xba\x16\x4f\x2f": "a fastText model; read its .vec file, or let fastText print the vectors",
    b"\x80": "a pickle, such as gensim's `save` writes; write it with `save_word2vec_format` instead",
    b"PK": "a zip archive; unpack it first",
    b"\x93NUMPY": "a numpy array without words",
    b"\x1f\x8b": "packed with gzip; its name should end in .gz",
    b"\xfd7zXZ": "packed with xz; its name should end in .xz",
    b"\x28\xb5\x2f\xfd": "packed with Zstandard; its name should end in .zst",
}


def read_vectors(
    path: Path, most: int | None = None, progress: Progress = silent, remark: Remark = ignore_remark
) -> WordVectors:
    """Read the word vectors of a file in any format, plain or packed (.gz, .xz, .zst): all, or the first `most`.

    A file with a fault is refused, naming the line or, in a binary file, the word. Single unusable rows are left out,
    with a remark.
    """
    with _open(path) as stream:
        start = stream.read(_START).removeprefix(BOM_UTF8)
        layout = _recognise(start, str(path))
        if layout.count is not None:
            start = start.partition(b"\n")[2]
        blocks = chain([start], iter(lambda: stream.read(_BLOCK), b""))
        unit = "word" if layout.binary else "line"
        gathering = Gathering(str(path), layout.width, unit, most, remark)
        if layout.binary:
            read_binary(blocks, gathering, layout.width, cast(int, layout.count), progress)
        else:
            read_text(blocks, gathering, layout.width, layout.count, progress)
    return gathering.finish()


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    if path.is_dir():
        raise Fault(f"{path} is a folder; name a file of word vectors.")
    try:
        with open_content(path) as stream:
            yield cast(IO[bytes], stream)
    except FileNotFoundError:
        raise Fault(f"There is no file {path}.") from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise Fault(f"{path} is damaged or incomplete and cannot be decompressed ({error}).") from None
    except OSError as error:
        raise Fault(f"{path} cannot be read: {error.strerror or error}.") from None


@dataclass(frozen=True)
class _Layout:
    """Beginning of a file: the announced number of words, if any, and their width."""

    count: int | None
    width: int
    binary: bool = False


def _recognise(start: bytes, name: str) -> _Layout:
    """Return the layout of a file that starts with these bytes."""
    for magic, kind in _OTHERS.items():
        if start.startswith(magic):
            raise Fault(f"{name} is {kind}.")
    line, _, rest = start.partition(b"\n")
    if header := _HEADER.fullmatch(line):
        count, width = int(header[1]), int(header[2])
        if not count or not 0 < width <= _WIDEST:
            raise Fault(
                f"{name}, line 1: '{count} {width}' cannot be the number of words and numbers per word; there "
                f"must be words, with 1 to {_WIDEST:,} numbers each."
            )
        first = rest.partition(b"\n")[0].decode("utf-8", "replace")
        return _Layout(count, width, binary=width_of_line(first) != width and _looks_binary(rest))
    width = 0 if _looks_binary(line) else width_of_line(line.decode("utf-8", "replace"))
    if not 0 < width <= _WIDEST:
        raise Fault(
            f"{name} holds no word vectors: its first line is neither the number of words and their width, as "
            "in word2vec and fastText files, nor a word and its numbers, as in GloVe files."
        )
    return _Layout(None, width)


def _looks_binary(content: bytes) -> bool:
    """Return True if the bytes cannot be text; the last character may be incomplete."""
    if _CONTROLS.search(content):
        return True
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.start < len(content) - 3
    return False


def write_vectors(path: Path, vectors: WordVectors, format: Format) -> None:
    """Write vectors in a format, compressed if the name ends in .gz or .xz; the file is complete or absent."""
    for number, word in enumerate(vectors.words, 1):
        if not word or _SPACE.search(word):
            raise Fault(
                f"Word {number}, {word!r}, cannot be written: white space separates words from numbers in a file."
            )
    match format:
        case "word2vec":
            blocks = text_blocks(vectors, header=True, space_at_end=False)
        case "fasttext":
            blocks = text_blocks(vectors, header=True, space_at_end=True)
        case "glove":
            blocks = text_blocks(vectors, header=False, space_at_end=False)
        case "word2vec-binary":
            blocks = binary_blocks(vectors)
    with whole_file(path) as file, _packed(file, path) as stream:
        stream.writelines(blocks)


@contextmanager
def _packed(file: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """Open a file compressed as its name says, without a timestamp, so that the same vectors give the same file."""
    match packing(path.name):
        case ".gz":
            with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as stream:
                yield cast(IO[bytes], stream)
        case ".xz":
            with lzma.LZMAFile(file, "wb") as stream:
                yield cast(IO[bytes], stream)
        case "":
            yield file
        case other:
            raise Fault(f"{path} cannot be written as {other}; use .gz, .xz or no compression.")
