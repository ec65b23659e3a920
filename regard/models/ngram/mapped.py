"""An n-gram model in one binary file that is mapped into memory, and so opens at once whatever its size.

    8 bytes      REGARDNG
    8 bytes      the length of the head, little-endian
    32 bytes     the SHA-256 of the head
    head         JSON: the recipe, and for each file and array its place and SHA-256
    contents     each starting at a multiple of 64 bytes

Besides the arrays of a model folder there is `firsts`, so that lookups need no preparation. The file need not be
trusted. Opening checks the head, the small files and the places of arrays; their numbers are checked, against the
checksums and for plausibility, before they are first used.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.base.faults import Fault
from regard.base.files import whole_file
from regard.base.model_folder import MAPPED_MARK
from regard.models.ngram.model import Ngrams
from regard.models.ngram.options import HIGHEST_ORDER
from regard.models.ngram.stored import model_as_arrays, model_of_arrays
from regard.models.ngram.trie import Trie

_VERSION = 1
_ALIGNED = 64
_LONGEST_HEAD = 1 << 20
_MOST_SMALL = 1 << 28  # most bytes of a tokeniser's file
_HASHED_AT_ONCE = 1 << 24
_KINDS = {"keys": np.int64, "firsts": np.int64, "log_probabilities": np.float32, "backoffs": np.float32}


class _Part(BaseModel):
    """Start, size in bytes and checksum of a file or an array."""

    model_config = ConfigDict(strict=True, extra="forbid")

    start: int = Field(ge=0)
    size: int = Field(ge=0)
    checksum: str


class _Head(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    version: int
    order: int = Field(ge=1, le=HIGHEST_ORDER)
    recipe: str
    files: dict[str, _Part]
    arrays: dict[str, _Part]


@dataclass(frozen=True)
class MappedModel:
    """An open file: its recipe, its small files, the model, and a function that checks its numbers."""

    recipe: str
    files: Mapping[str, bytes]
    model: Ngrams
    check: Callable[[np.ndarray], None]  # takes a mask of the possible tokens


def write_mapped(path: Path, model: Ngrams, recipe: str, files: Mapping[str, bytes]) -> None:
    """Write a model with its recipe and the files of its tokeniser."""
    firsts = {f"firsts.{order}": array for order, array in enumerate(model.trie.firsts, 2)}
    arrays = {name: np.ascontiguousarray(array) for name, array in (model_as_arrays(model) | firsts).items()}
    contents: dict[str, memoryview] = {name: memoryview(content) for name, content in files.items()}
    contents |= {name: array.data.cast("B") if len(array) else memoryview(b"") for name, array in arrays.items()}
    parts, end = dict[str, _Part](), 0
    for name, content in contents.items():
        parts[name] = _Part(start=end, size=len(content), checksum=hashlib.sha256(content).hexdigest())
        end = _aligned(end + len(content))
    small, large = {name: parts[name] for name in files}, {name: parts[name] for name in arrays}
    head = _Head(version=_VERSION, order=model.order, recipe=recipe, files=small, arrays=large)
    encoded = head.model_dump_json().encode()
    with whole_file(path) as file:
        file.write(MAPPED_MARK + len(encoded).to_bytes(8, "little") + hashlib.sha256(encoded).digest() + encoded)
        for content in contents.values():
            file.write(bytes(_aligned(file.tell()) - file.tell()))
            file.write(content)


def open_mapped(path: Path) -> MappedModel:
    """Open a file made by `write_mapped`; a damaged head is a fault."""
    with path.open("rb") as file:
        head, first = _read_head(file, path)
        size = os.fstat(file.fileno()).st_size
        parts = [*head.files.values(), *head.arrays.values()]
        if max((first + part.start + part.size for part in parts), default=first) != size:
            raise _damage(path, "its length differs from what its head says")
        files = {name: _read_small(file, path, name, first, part) for name, part in head.files.items()}
        arrays = {name: _map(file, path, name, first, part) for name, part in head.arrays.items()}
    model = _model_of(arrays, head.order, path)

    def check(possible: np.ndarray) -> None:
        for name, part in head.arrays.items():
            if _checksum(arrays[name]) != part.checksum:
                raise _damage(path, f"the checksum of '{name}' differs from its head's")
        model_arrays = {name: array for name, array in arrays.items() if not name.startswith("firsts.")}
        checked = model_of_arrays(model_arrays, head.order, possible)
        for order in range(2, head.order + 1):
            if not np.array_equal(checked.trie.firsts_of(order), arrays[f"firsts.{order}"]):
                raise _damage(path, f"'firsts.{order}' does not belong to its n-grams")

    return MappedModel(head.recipe, files, model, check)


def _read_head(file: BinaryIO, path: Path) -> tuple[_Head, int]:
    """Return the head and the byte where contents begin."""
    beginning = file.read(len(MAPPED_MARK) + 40)
    if len(beginning) < len(MAPPED_MARK) + 40 or not beginning.startswith(MAPPED_MARK):
        raise _damage(path, "it does not begin like a mapped n-gram model")
    length, checksum = int.from_bytes(beginning[8:16], "little"), beginning[16:]
    content = file.read(length) if length <= _LONGEST_HEAD else b""
    if len(content) != length or hashlib.sha256(content).digest() != checksum:
        raise _damage(path, "its head is incomplete")
    try:
        head = _Head.model_validate_json(content)
    except ValidationError:
        raise _damage(path, "its head is not that of a mapped n-gram model") from None
    if head.version != _VERSION:
        raise Fault(f"{path} was written by another version of regard. Export the model again.")
    return head, _aligned(file.tell())


def _read_small(file: BinaryIO, path: Path, name: str, first: int, part: _Part) -> bytes:
    file.seek(first + part.start)
    content = file.read(part.size) if part.size <= _MOST_SMALL else b""
    if hashlib.sha256(content).hexdigest() != part.checksum:
        raise _damage(path, f"the checksum of '{name}' differs from its head's")
    return content


def _map(file: BinaryIO, path: Path, name: str, first: int, part: _Part) -> np.ndarray:
    kind = np.dtype(_KINDS.get(name.partition(".")[0], np.void))
    if kind.itemsize == 0 or part.size % kind.itemsize or part.start % _ALIGNED:
        raise _damage(path, f"'{name}' is not an array of such a model")
    if not part.size:
        return np.zeros(0, kind)
    # A private mapping: nothing is ever written back.
    return np.memmap(file, kind, mode="c", offset=first + part.start, shape=(part.size // kind.itemsize,))


def _model_of(arrays: Mapping[str, np.ndarray], order: int, path: Path) -> Ngrams:
    """Build the model from arrays, after checking that their sizes match."""
    orders = range(1, order + 1)
    names = [f"log_probabilities.{n}" for n in orders] + [f"backoffs.{n}" for n in orders[:-1]]
    names += [f"{kind}.{n}" for kind in ("keys", "firsts") for n in orders[1:]]
    if sorted(names) != sorted(arrays):
        raise _damage(path, "its arrays do not match its order")
    rows = [len(arrays[f"log_probabilities.{n}"]) for n in orders]
    sizes = {f"backoffs.{n}": rows[n - 1] for n in orders[:-1]}
    sizes |= {f"keys.{n}": rows[n - 1] for n in orders[1:]}
    sizes |= {f"firsts.{n}": rows[n - 2] + 1 for n in orders[1:]}
    if any(len(arrays[name]) != size for name, size in sizes.items()):
        raise _damage(path, "the sizes of its arrays do not match")
    keys, firsts = ([arrays[f"{kind}.{n}"] for n in orders[1:]] for kind in ("keys", "firsts"))
    return Ngrams(
        Trie(rows[0], keys, firsts),
        [arrays[f"log_probabilities.{n}"] for n in orders],
        [arrays[f"backoffs.{n}"] for n in orders[:-1]],
    )


def _checksum(array: np.ndarray) -> str:
    """Return the SHA-256 of an array, with little of it in memory at a time."""
    checksum, content = hashlib.sha256(), array.view(np.uint8)
    for start in range(0, len(content), _HASHED_AT_ONCE):
        checksum.update(content[start : start + _HASHED_AT_ONCE].data)
    return checksum.hexdigest()


def _aligned(place: int) -> int:
    return -(-place // _ALIGNED) * _ALIGNED


def _damage(path: Path, why: str) -> Fault:
    return Fault(f"{path} is damaged: {why}. Export the model again.")
