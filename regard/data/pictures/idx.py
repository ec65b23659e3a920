"""The idx format of MNIST: two zero bytes, the kind of number, the count of axes, their sizes, then all numbers.

Sizes are four bytes each, the highest first. Files need not be trusted: what their heads promise is bounded, and
compared with what follows, before anyone works with it.
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

BYTES = 0x08  # the kind of number: unsigned, of eight bits
LARGEST_SIDE = 1024  # pixels of a picture
MOST_BYTES = 2**32
_CHUNK = 2**20


@contextmanager
def _open(path: Path) -> Iterator[BufferedIOBase]:
    """The content of a file; one that is packed and damaged is refused."""
    try:
        with open_content(path) as stream:
            yield stream
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise Fault(f"{path} is damaged: {error}.") from None


def read_pictures(path: Path) -> np.ndarray:
    """The pictures (count, height, width) of an idx file, 0 to 255."""
    pictures = _read(path, axes=3, what="pictures")
    if not all(1 <= side <= LARGEST_SIDE for side in pictures.shape[1:]):
        height, width = pictures.shape[1:]
        raise Fault(f"{path} holds pictures of {height} × {width} pixels; a side has 1 to {LARGEST_SIDE}.")
    return pictures


def read_labels(path: Path) -> np.ndarray:
    """The labels (count,) of an idx file, 0 to 255."""
    return _read(path, axes=1, what="labels")


def _read(path: Path, axes: int, what: str) -> np.ndarray:
    with _open(path) as stream:
        head = stream.read(4)
        if head != bytes([0, 0, BYTES, axes]):
            raise Fault(f"{path} is not an idx file of {what}: it begins with {head.hex(' ') or 'nothing'}.")
        sizes = stream.read(4 * axes)
        if len(sizes) < 4 * axes:
            raise Fault(f"{path} ends within its head.")
        shape = struct.unpack(f">{axes}I", sizes)
        promised = prod(shape)
        if not 0 < promised <= MOST_BYTES:
            raise Fault(f"{path} promises {promised:,} bytes of {what}; between 1 and {MOST_BYTES:,} can be read.")
        content = bytearray()  # grows with what is there, whatever the head promises
        while len(content) <= promised and (piece := stream.read(_CHUNK)):
            content += piece
    if len(content) != promised:
        there = "it goes on after them" if len(content) > promised else f"it ends after {len(content):,}"
        raise Fault(f"{path} promises {promised:,} bytes of {what}, but {there}.")
    return np.frombuffer(content, np.uint8).reshape(shape)
