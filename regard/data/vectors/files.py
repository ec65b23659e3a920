"""Files of word vectors: which format one has, and reading and writing them, plain or packed."""

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
_START = 1 << 18  # bytes by which a format is known: more than the first line has
_BLOCK = 1 << 20  # bytes read at once
_WIDEST = 10_000  # numbers of one vector
_CONTROLS = re.compile(rb"[\0-\x08\x0e-\x1f]")
_SPACE = re.compile(r"[\0\t-\r ]")
# What people take for such files, by the first bytes.
_OTHERS: dict[bytes, str] = {
    b"\xba\x16\x4f\x2f": "a model of fastText's own; read its .vec file, or let fastText print the vectors",
    b"\x80": "a pickle, such as gensim's `save` writes; write it with `save_word2vec_format` instead",
    b"PK": "a zip archive; unpack it first",
    b"\x93NUMPY": "an array of numpy without words",
    b"\x1f\x8b": "packed with gzip; its name should end in .gz",
    b"\xfd7zXZ": "packed with xz; its name should end in .xz",
    b"\x28\xb5\x2f\xfd": "packed with Zstandard; its name should end in .zst",
}


def read_vectors(
    path: Path, most: int | None = None, progress: Progress = silent, remark: Remark = ignore_remark
) -> WordVectors:
    """The word vectors of a file in any of the formats, plain or packed (.gz, .xz, .zst): all, or the first `most`.

    What is wrong with the file as a whole is refused, naming the line, or in a binary file the word. Single rows that
    cannot be used are left out, and a remark tells of them.
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
        raise Fault(f"{path} is damaged or not whole and cannot be decompressed ({error}).") from None
    except OSError as error:
        raise Fault(f"{path} cannot be read: {error.strerror or error}.") from None


@dataclass(frozen=True)
class _Layout:
    """Beginning of a file: how many words it promises, if it does, and their width."""

    count: int | None
    width: int
    binary: bool = False


def _recognise(start: bytes, name: str) -> _Layout:
    """Which layout a file has that starts with these bytes."""
    for magic, what in _OTHERS.items():
        if start.startswith(magic):
            raise Fault(f"{name} is {what}.")
    line, _, rest = start.partition(b"\n")
    if header := _HEADER.fullmatch(line):
        count, width = int(header[1]), int(header[2])
        if not count or not 0 < width <= _WIDEST:
            raise Fault(
                f"{name}, line 1: '{count} {width}' cannot be the number of words and how many numbers each has; "
                f"there must be words, with 1 to {_WIDEST:,} numbers."
            )
        first = rest.partition(b"\n")[0].decode("utf-8", "replace")
        return _Layout(count, width, binary=width_of_line(first) != width and _looks_binary(rest))
    width = 0 if _looks_binary(line) else width_of_line(line.decode("utf-8", "replace"))
    if not 0 < width <= _WIDEST:
        raise Fault(
            f"{name} holds no word vectors: its first line is neither the number of words and their width, "
            "as in word2vec's and fastText's files, nor a word and its numbers, as in GloVe's."
        )
    return _Layout(None, width)


def _looks_binary(content: bytes) -> bool:
    """Return True if bytes hold what no text does; more bytes may complete the last letter."""
    if _CONTROLS.search(content):
        return True
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.start < len(content) - 3
    return False


def write_vectors(path: Path, vectors: WordVectors, format: Format) -> None:
    """Write vectors in a format, packed where the name ends in .gz or .xz; the file is whole or not there."""
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
    """Open a file compressed as its name says; no time is written, so the same vectors give the same file."""
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
            raise Fault(f"{path} cannot be written as {other}; vectors are packed as .gz or .xz, or left plain.")
