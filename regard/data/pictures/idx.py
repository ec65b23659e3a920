"""Read the idx format of MNIST: two zero bytes, the type of number, the count of axes, their sizes, then all numbers.

Sizes are four bytes each, highest first. Files are not trusted: the sizes in their headers are limited and compared
with the actual content before use.
"""

import gzip
import lzma
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from math import prod
from pathlib import Path

import numpy as np

from regard.base.faults import Fault
from regard.data.catalogue.unpack import open_content

BYTES = 0x08  # type code: unsigned, eight bits
LARGEST_SIDE = 1024  # pixels of a picture's side
MOST_BYTES = 2**32
_CHUNK = 2**20


@contextmanager
def _open(path: Path) -> Iterator[BufferedIOBase]:
    """Open the content of a file; refuse damaged compressed files."""
    try:
        with open_content(path) as stream:
            yield stream
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise Fault(f"{path} is damaged: {error}.") from None


def read_pictures(path: Path) -> np.ndarray:
    """Read the pictures (count, height, width) of an idx file, 0 to 255."""
    pictures = _read(path, axes=3, what="pictures")
    if not all(1 <= side <= LARGEST_SIDE for side in pictures.shape[1:]):
        height, width = pictures.shape[1:]
        raise Fault(f"{path} holds pictures of {height} × {width} pixels; a side must have 1 to {LARGEST_SIDE}.")
    return pictures


def read_labels(path: Path) -> np.ndarray:
    """Read the labels (count,) of an idx file, 0 to 255."""
    return _read(path, axes=1, what="labels")


def _read(path: Path, axes: int, what: str) -> np.ndarray:
    with _open(path) as stream:
        head = stream.read(4)
        if head != bytes([0, 0, BYTES, axes]):
            raise Fault(f"{path} is not an idx file of {what}: it begins with {head.hex(' ') or 'nothing'}.")
        sizes = stream.read(4 * axes)
        if len(sizes) < 4 * axes:
            raise Fault(f"{path} ends within its header.")
        shape = struct.unpack(f">{axes}I", sizes)
        expected = prod(shape)
        if not 0 < expected <= MOST_BYTES:
            raise Fault(
                f"{path} claims to hold {expected:,} bytes of {what}; between 1 and {MOST_BYTES:,} can be read."
            )
        content = bytearray()  # grows with the actual content, whatever the header claims
        while len(content) <= expected and (piece := stream.read(_CHUNK)):
            content += piece
    if len(content) != expected:
        actual = "more follow" if len(content) > expected else f"it ends after {len(content):,}"
        raise Fault(f"{path} claims to hold {expected:,} bytes of {what}, but {actual}.")
    return np.frombuffer(content, np.uint8).reshape(shape)
