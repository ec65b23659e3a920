"""A prepared corpus on disk: shards of token ids, and of text where it is needed, read through memory maps.

A shard is one file of plain numbers, section after section; which lies where stands in its record. Nothing is loaded
when a corpus is opened, and the operating system may forget what was read, so its size does not matter.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from regard.base.faults import Fault
from regard.base.files import checksum, write_file
from regard.data.corpora.cleaning import hash_folded

Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")

_ALIGNMENT = 8
_OFFSET = np.dtype("<u4")
_LENGTH = np.dtype("<i4")
_SMALL_VOCABULARY = 2**16
_HASHES = "source.hashes"  # of the folded sentences


class Section(BaseModel):
    """Where in a shard's file so many numbers of one type lie."""

    model_config = ConfigDict(frozen=True)

    type: str
    start: int
    count: int


class Shard(BaseModel):
    """The record of one shard."""

    model_config = ConfigDict(frozen=True)

    file: str
    corpus: int
    rows: int
    size: int
    sections: dict[str, Section]
    checksum: str = ""  # none in shards of old


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
    """Gathers the pairs of a shard."""

    def __init__(self, vocabulary: int, keep_text: bool) -> None:
        """`vocabulary` is the number of tokens there are, of the larger vocabulary if there are two."""
        token = np.dtype("<u2" if vocabulary <= _SMALL_VOCABULARY else "<u4")
        self._tokens = {side: _Column(token) for side in SIDES}
        self._texts = {side: _Column(np.dtype("u1")) for side in SIDES} if keep_text else {}
        self._sources: list[str] = []

    def add(self, tokens: tuple[list[int], list[int]], texts: tuple[str, str]) -> None:
        """Add a pair: its tokens, the hash of its source, and its text in case that is kept."""
        self._sources.append(texts[0])
        for column, side_tokens in zip(self._tokens.values(), tokens, strict=True):
            column.add(np.array(side_tokens, column.type).tobytes())
        for column, text in zip(self._texts.values(), texts, strict=False):
            column.add(text.encode("utf-8"))

    def write(self, path: Path, corpus: int) -> Shard:
        """Write the shard and give its record."""
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


def source_hashes(folder: Path, shards: Sequence[Shard]) -> np.ndarray:
    """The hashes of the source sentences of all rows, each once."""
    return np.unique(np.concatenate([_map_sections(folder, shard)[_HASHES] for shard in shards]))


def write_lengths(folder: Path, shards: Sequence[Shard]) -> None:
    """Gather the lengths of all rows in a file for each side, so that reading them takes no look into every shard."""
    for side in SIDES:
        lengths = [np.diff(_map_sections(folder, shard)[f"{side}.tokens.offsets"]).astype(_LENGTH) for shard in shards]
        write_file(_lengths_file(folder, side), b"".join(part.tobytes() for part in lengths))


def _lengths_file(folder: Path, side: Side) -> Path:
    return folder / f"{side}.lengths"


def _map_sections(folder: Path, shard: Shard) -> dict[str, np.ndarray]:
    """The sections of a shard."""
    contents = np.asarray(np.memmap(folder / shard.file, np.uint8, "r"))
    return {name: _view(contents, section) for name, section in shard.sections.items()}


def _view(contents: np.ndarray, section: Section) -> np.ndarray:
    kind = np.dtype(section.type)
    return contents[section.start : section.start + section.count * kind.itemsize].view(kind)


class Pairs:
    """The pairs of a prepared corpus by row: their tokens and, if it was kept, their text."""

    def __init__(self, folder: Path, shards: Sequence[Shard], weights: Sequence[float | None]) -> None:
        """`weights` are those of the corpora the shards belong to; one without any weighs as much as it has rows."""
        self._folder, self._shards = folder, [shard for shard in shards if shard.rows]
        self._bounds = [0, *accumulate(shard.rows for shard in self._shards)]
        self._open: dict[int, dict[str, np.ndarray]] = {}
        self._weights = weights
        sizes = {folder / shard.file: shard.size for shard in shards}
        sizes |= {_lengths_file(folder, side): len(self) * _LENGTH.itemsize for side in SIDES}
        for path, size in sizes.items():
            if not path.is_file() or path.stat().st_size != size:
                raise Fault(f"{path} is missing or not whole; delete {folder.parent} and prepare the corpus again.")

    def __reduce__(self) -> "tuple[type[Pairs], tuple[Path, Sequence[Shard], Sequence[float | None]]]":
        """How it travels to worker processes: without what is mapped, which they map themselves."""
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
        """The number of source tokens of each row, without the end token."""
        return np.fromfile(_lengths_file(self._folder, "source"), _LENGTH)

    @cached_property
    def target_lengths(self) -> np.ndarray:
        """The number of target tokens of each row, without the end token."""
        return np.fromfile(_lengths_file(self._folder, "target"), _LENGTH)

    def check_lengths(self) -> None:
        """Refuse a shard that was cut short since it was opened, to be called before each batch.

        Whoever reads a mapped file beyond its new end is killed without a word. Reading rows without mapping them would
        close the gap that is left, the time of one batch, but takes three times as long beside a busy training loop.
        """
        for number in self._open:
            shard = self._shards[number]
            path = self._folder / shard.file
            try:
                is_whole = path.stat().st_size >= shard.size
            except OSError:
                is_whole = False
            if not is_whole:
                raise Fault(f"{path} was cut short or removed while it was in use; prepare the corpus again.")

    def tokens(self, side: Side, row: int) -> np.ndarray:
        """The tokens of one side of a row."""
        return self._slice(f"{side}.tokens", row)

    def text(self, side: Side, row: int) -> str:
        """The text of one side of a row; there is none unless the tokeniser samples."""
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
        """The sections of a shard, mapped when first needed."""
        if number not in self._open:
            self._open[number] = _map_sections(self._folder, self._shards[number])
        return self._open[number]
