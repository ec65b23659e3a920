"""A prepared corpus on disk: shards of token ids, and of text where needed, read through memory maps.

A shard is one file of plain numbers in sections; its record says where each section lies. Opening a corpus loads
nothing, and the operating system may drop what was read, so its size does not matter.
"""

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from regard.base.faults import Fault
from regard.base.files import allow_open_files, checksum, whole_file, write_file
from regard.data.corpora.hashes import HASH, hash_folded, hash_ranges

Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")

_ALIGNMENT = 8
_OFFSET = np.dtype("<u4")
_LENGTH = np.dtype("<i4")
_SMALL_VOCABULARY = 2**16
_HASHES = "source.hashes"  # of the folded sentences


class Section(BaseModel):
    """Position of numbers of one type in a shard's file."""

    model_config = ConfigDict(frozen=True)

    type: str
    start: int
    count: int


class Shard(BaseModel):
    """Record of one shard."""

    model_config = ConfigDict(frozen=True)

    file: str
    corpus: int
    rows: int
    size: int
    sections: dict[str, Section]
    checksum: str = ""  # empty in older shards


@dataclass
class _Column:
    """Sequences of numbers of one type, one for each row."""

    type: np.dtype
    values: list[bytes] = field(default_factory=list)
    ends: list[int] = field(default_factory=lambda: [0])

    def add(self, value: bytes) -> None:
        self.values.append(value)
        self.ends.append(self.ends[-1] + len(value) // self.type.itemsize)

    def sections(self, name: str) -> Iterator[tuple[str, np.dtype, bytes]]:
        yield name, self.type, b"".join(self.values)
        yield f"{name}.offsets", _OFFSET, np.array(self.ends, _OFFSET).tobytes()


class ShardBuilder:
    """Collects the pairs of a shard."""

    def __init__(self, vocabulary: int, keep_text: bool) -> None:
        """`vocabulary` is the number of tokens, of the larger vocabulary if there are two."""
        token = np.dtype("<u2" if vocabulary <= _SMALL_VOCABULARY else "<u4")
        self._tokens = {side: _Column(token) for side in SIDES}
        self._texts = {side: _Column(np.dtype("u1")) for side in SIDES} if keep_text else {}
        self._sources: list[str] = []

    def add(self, tokens: tuple[list[int], list[int]], texts: tuple[str, str]) -> None:
        """Add a pair: its tokens, the hash of its source, and its text if that is kept."""
        self._sources.append(texts[0])
        for column, side_tokens in zip(self._tokens.values(), tokens, strict=True):
            column.add(np.array(side_tokens, column.type).tobytes())
        for column, text in zip(self._texts.values(), texts, strict=False):
            column.add(text.encode("utf-8"))

    def write(self, path: Path, corpus: int) -> Shard:
        """Write the shard and return its record."""
        blob, sections = bytearray(), {}
        for name, type_, contents in self._sections():
            blob += bytes(-len(blob) % _ALIGNMENT)
            sections[name] = Section(type=type_.str, start=len(blob), count=len(contents) // type_.itemsize)
            blob += contents
        write_file(path, bytes(blob))
        rows = len(self._tokens["source"].values)
        return Shard(
            file=path.name, corpus=corpus, rows=rows, size=len(blob), sections=sections, checksum=checksum(blob)
        )

    def _sections(self) -> Iterator[tuple[str, np.dtype, bytes]]:
        for kind, columns in (("tokens", self._tokens), ("text", self._texts)):
            for side, column in columns.items():
                yield from column.sections(f"{side}.{kind}")
        hashes = hash_folded(self._sources)
        yield _HASHES, hashes.dtype, hashes.tobytes()


def write_source_hashes(file: Path, folder: Path, shards: Sequence[Shard]) -> None:
    """Write the distinct hashes of the source sentences of all rows, sorted, as a numpy array."""
    count = 0
    with whole_file(file) as stream:
        _write_header(stream, count)
        for low, high in hash_ranges(sum(shard.rows for shard in shards)):
            parts = [np.empty(0, HASH)]
            for shard in shards:
                hashes = _read_section(folder, shard, _HASHES)
                parts.append(hashes[(hashes >= low) & (hashes <= high)])
            distinct = np.unique(np.concatenate(parts))
            stream.write(distinct.tobytes())
            count += len(distinct)
        stream.seek(0)
        _write_header(stream, count)


def _write_header(stream: BinaryIO, count: int) -> None:
    """Write the header of a numpy array; it has the same length for any count."""
    about = {"descr": HASH.str, "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(stream, about)


def write_lengths(folder: Path, shards: Sequence[Shard]) -> None:
    """Write the lengths of all rows to one file per side, so that reading them does not touch every shard."""
    for side in SIDES:
        with whole_file(_lengths_file(folder, side)) as stream:
            for shard in shards:
                offsets = _read_section(folder, shard, f"{side}.tokens.offsets")
                stream.write(np.diff(offsets).astype(_LENGTH).tobytes())


def _lengths_file(folder: Path, side: Side) -> Path:
    return folder / f"{side}.lengths"


def _read_section(folder: Path, shard: Shard, name: str) -> np.ndarray:
    section = shard.sections[name]
    return np.fromfile(folder / shard.file, section.type, section.count, offset=section.start)


def _map_sections(folder: Path, shard: Shard) -> dict[str, np.ndarray]:
    """Memory-map the sections of a shard."""
    contents = np.asarray(np.memmap(folder / shard.file, np.uint8, "r"))
    return {name: _view(contents, section) for name, section in shard.sections.items()}


def _view(contents: np.ndarray, section: Section) -> np.ndarray:
    kind = np.dtype(section.type)
    return contents[section.start : section.start + section.count * kind.itemsize].view(kind)


class Pairs:
    """Pairs of a prepared corpus by row: their tokens and, if it was kept, their text."""

    def __init__(self, folder: Path, shards: Sequence[Shard], weights: Sequence[float | None]) -> None:
        """`weights` are those of the corpora the shards belong to; a corpus without one weighs by its rows."""
        self._folder, self._shards = folder, [shard for shard in shards if shard.rows]
        self._bounds = [0, *accumulate(shard.rows for shard in self._shards)]
        self._open: dict[int, dict[str, np.ndarray]] = {}
        self._mapped: dict[str, int] = {}  # size that each mapped file must keep
        self._weights = weights
        allow_open_files(len(self._shards), str(folder))
        sizes = {folder / shard.file: shard.size for shard in shards}
        sizes |= {_lengths_file(folder, side): len(self) * _LENGTH.itemsize for side in SIDES}
        for path, size in sizes.items():
            if not path.is_file() or path.stat().st_size != size:
                raise Fault(f"{path} is missing or incomplete; delete {folder.parent} and prepare the corpus again.")

    def __reduce__(self) -> "tuple[type[Pairs], tuple[Path, Sequence[Shard], Sequence[float | None]]]":
        """Pickle without memory maps; worker processes map the files themselves."""
        return Pairs, (self._folder, self._shards, self._weights)

    def __len__(self) -> int:
        return self._bounds[-1]

    @cached_property
    def corpora(self) -> list[tuple[int, int, float]]:
        """First row, number of rows and weight of each corpus."""
        counts = [0] * len(self._weights)
        for shard in self._shards:
            counts[shard.corpus] += shard.rows
        firsts = accumulate(counts, initial=0)
        weights = (count if weight is None else weight for count, weight in zip(counts, self._weights, strict=True))
        return list(zip(firsts, counts, weights, strict=False))

    @cached_property
    def source_lengths(self) -> np.ndarray:
        """Number of source tokens of each row, without the end token."""
        return self._lengths("source")

    @cached_property
    def target_lengths(self) -> np.ndarray:
        """Number of target tokens of each row, without the end token."""
        return self._lengths("target")

    def _lengths(self, side: Side) -> np.ndarray:
        if not len(self):
            return np.empty(0, _LENGTH)  # an empty file cannot be mapped
        path = _lengths_file(self._folder, side)
        self._mapped[str(path)] = len(self) * _LENGTH.itemsize
        return np.asarray(np.memmap(path, _LENGTH, "r"))

    def check_lengths(self) -> None:
        """Refuse a shard that was truncated since it was opened; call this before each batch.

        A process that reads a mapped file beyond its new end is killed without a message. Reading rows without mapping
        would close the remaining gap, the time of one batch, but takes three times as long next to a busy training
        loop.
        """
        for path, size in self._mapped.items():
            try:
                is_whole = os.stat(path).st_size >= size  # noqa: PTH116 (a thousand files before each batch)
            except OSError:
                is_whole = False
            if not is_whole:
                raise Fault(f"{path} was truncated or removed while in use; prepare the corpus again.")

    def tokens(self, side: Side, row: int) -> np.ndarray:
        """Return the tokens of one side of a row."""
        return self._slice(f"{side}.tokens", row)

    def text(self, side: Side, row: int) -> str:
        """Return the text of one side of a row, which is stored only if the tokeniser samples."""
        return self._slice(f"{side}.text", row).tobytes().decode("utf-8")

    def _slice(self, name: str, row: int) -> np.ndarray:
        if not 0 <= row < len(self):
            raise IndexError(f"there is no row {row} among {len(self)}")
        number = bisect_right(self._bounds, row) - 1
        sections, place = self._sections(number), row - self._bounds[number]
        if name not in sections:
            raise ValueError("this corpus was prepared without its text, since its tokeniser does not sample")
        first, last = sections[f"{name}.offsets"][place : place + 2]
        return sections[name][first:last]

    def _sections(self, number: int) -> dict[str, np.ndarray]:
        """Return the sections of a shard, mapped when first needed."""
        if number not in self._open:
            shard = self._shards[number]
            self._open[number] = _map_sections(self._folder, shard)
            self._mapped[str(self._folder / shard.file)] = shard.size
        return self._open[number]
