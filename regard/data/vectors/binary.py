"""word2vec's binary files: "count width" on a line, then every word, a space, and its numbers in four bytes each.

    2 3\\n  menino\\x20 <12 bytes> [\\n]  jogar\\x20 <12 bytes> [\\n]

The numbers are little-endian float32. word2vec ends each vector with a line feed and gensim does not; both are read,
and none is written.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from regard.base.faults import Fault
from regard.base.progress import Progress
from regard.data.vectors.gathering import Gathering
from regard.data.vectors.word_vectors import WordVectors

_NUMBER = np.dtype("<f4")
_AT_ONCE = 10_000  # words
_LONGEST_WORD = 1 << 16  # bytes; word2vec itself truncates words after a hundred


def read_binary(blocks: Iterator[bytes], gathering: Gathering, width: int, count: int, progress: Progress) -> None:
    """Read the `count` words of a file, starting after its header."""
    pairs = _pairs(blocks, width, count, gathering.name)
    first = 1
    while (some := list(islice(pairs, _AT_ONCE))) and not gathering.is_full:
        words = [word.decode("utf-8", "surrogateescape") for word, _ in some]
        rows = np.frombuffer(b"".join(row for _, row in some), _NUMBER).reshape(len(some), width)
        gathering.add(words, rows, first)
        gathering.report(progress, count)
        first += len(some)


def _pairs(blocks: Iterator[bytes], width: int, count: int, name: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield each word with the bytes of its vector."""
    size, buffer, place = width * _NUMBER.itemsize, b"", 0
    for number in range(1, count + 1):
        while (space := buffer.find(b" ", place)) < 0 or len(buffer) < space + 1 + size:
            if space < 0 and len(buffer) - place > _LONGEST_WORD:
                raise Fault(f"{name}, word {number} is too long; the width in the first line may be wrong.")
            block = next(blocks, None)
            if block is None:
                raise Fault(
                    f"{name} is incomplete: its first line announces {count:,} words, but it ends in word {number:,}."
                )
            buffer, place = buffer[place:] + block, 0
        end = space + 1 + size
        yield buffer[place:space].lstrip(b"\n"), buffer[space + 1 : end]
        place = end
    if (buffer[place:] + next(blocks, b"")).strip(b"\n"):
        raise Fault(f"{name} continues after the {count:,} words that its first line announces.")


def binary_blocks(vectors: WordVectors) -> Iterator[bytes]:
    """Yield the content of a binary file of vectors, piece by piece."""
    yield f"{len(vectors)} {vectors.width}\n".encode()
    rows = zip(vectors.words, vectors.matrix, strict=True)
    while some := list(islice(rows, _AT_ONCE)):
        yield b"".join(word.encode() + b" " + row.astype(_NUMBER).tobytes() for word, row in some)
