"""Pieces of the training corpora, and what worker processes make of each: its hashes and its shard.

Each result is a file that is either complete or absent, so an interrupted preparation can continue.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from regard.base.checksums import file_checksum, read_record, write_record
from regard.base.faults import Fault
from regard.base.files import write_file
from regard.data.corpora.cleaning import REASONS, Drop, Drops, Fate, add_drops, judge_lengths
from regard.data.corpora.hashes import hash_pairs, hashes_in
from regard.data.corpora.options import Cleaning, Corpus
from regard.data.corpora.shards import Shard, ShardBuilder
from regard.data.corpora.text import Chunk, read_chunks
from regard.data.tokenisers.tokeniser import Tokeniser, encode_pairs

_ENCODED_AT_ONCE = 5_000


@dataclass(frozen=True)
class Piece:
    """Some lines of one corpus, and the count of all lines up to their end."""

    name: str
    corpus: int
    chunk: Chunk
    end: int


def read_pieces(corpora: Sequence[Corpus], size: int) -> Iterator[Piece]:
    """Yield the training corpora in pieces of `size` lines."""
    end = 0
    for number, corpus in enumerate(corpora):
        for part, chunk in enumerate(read_chunks(corpus, size)):
            end += chunk.lines
            yield Piece(f"{number:03}-{part:05}", number, chunk, end)


@dataclass(frozen=True)
class HashMaker:
    """Writes the hashes of a piece to a file, in any process."""

    folder: Path

    def file(self, piece: Piece) -> Path:
        return self.folder / piece.name

    def has_made(self, piece: Piece) -> bool:
        """Return True if the file holds the hashes of all lines of the piece."""
        file = self.file(piece)
        return file.is_file() and hashes_in(file) == piece.chunk.lines

    def __call__(self, piece: Piece) -> int:
        """Write the file and return the count of all lines up to the end of the piece."""
        write_file(self.file(piece), hash_pairs(strip_pairs(piece.chunk)).tobytes())
        return piece.end


@dataclass(frozen=True)
class JudgedPiece(Piece):
    """A piece with the fates of its lines."""

    fates: np.ndarray


def judged_pieces(corpora: Sequence[Corpus], fates: np.ndarray, size: int) -> Iterator[JudgedPiece]:
    """Yield the training corpora in pieces of `size` lines, with their fates."""
    end = 0
    for piece in read_pieces(corpora, size):
        start, end = end, piece.end
        yield JudgedPiece(piece.name, piece.corpus, piece.chunk, end, fates[start:end])
    if end != len(fates):
        raise Fault("The training files changed while they were being prepared; start again in a new folder.")


def sampled_pairs(piece: JudgedPiece) -> list[tuple[str, str]]:
    pairs = strip_pairs(piece.chunk)
    return [pairs[position] for position in np.flatnonzero(piece.fates == Fate.SAMPLED)]


class Made(BaseModel):
    """Result for the lines of one piece."""

    shard: Shard
    read: int
    held_out: list[tuple[str, str]]
    dropped: Drops
    further_columns: int = 0


@dataclass(frozen=True)
class ShardMaker:
    """Makes a shard of a piece, with a record beside it, in any process."""

    folder: Path
    source: Tokeniser
    target: Tokeniser
    cleaning: Cleaning
    keep_text: bool
    tells_unknown: bool = False
    tagged: tuple[bool, ...] = ()  # by corpus; empty: none

    def __post_init__(self) -> None:
        if any(self.tagged) and not _has_tag(self.source):
            raise Fault(
                "These tokenisers have no token to tag sources with, because their begin token has another use; set "
                "tag (data.mono) or tagged (data.train) to false."
            )

    def record(self, piece: JudgedPiece) -> Path:
        """Return the path of a piece's record, which exists once its shard is finished."""
        return self.folder / f"{piece.name}.json"

    def has_made(self, piece: JudgedPiece) -> bool:
        """Return True if the shard of a piece is finished and unchanged."""
        try:
            result = read_record(Made, self.record(piece))
            is_whole = file_checksum(self.folder / result.shard.file) == result.shard.checksum
            return is_whole and result.read == piece.chunk.lines
        except (OSError, Fault):
            return False

    def __call__(self, piece: JudgedPiece) -> int:
        """Make the shard and return the count of all lines up to its end."""
        further = (
            self.cleaning.longest if self.tells_unknown else 0
        )  # most unknown words, numbered after the vocabulary
        builder = ShardBuilder(max(self.source.size, self.target.size) + further, self.keep_text)
        held_out: list[tuple[str, str]] = []
        drops: Drops = {}
        for pair, fate, tokens in self._survivors(piece, drops):
            if fate == Fate.HELD_OUT:
                held_out.append(pair)
            else:
                builder.add(tokens, pair)
        shard = builder.write(self.folder / f"{piece.name}.bin", piece.corpus)
        result = Made(
            shard=shard,
            read=piece.chunk.lines,
            held_out=held_out,
            dropped=drops,
            further_columns=piece.chunk.further_columns(),
        )
        write_record(self.record(piece), result)
        return piece.end

    def _survivors(
        self, piece: JudgedPiece, drops: Drops
    ) -> Iterator[tuple[tuple[str, str], Fate, tuple[list[int], list[int]]]]:
        """Yield the pairs that are not dropped, with fates and tokens; count the others into `drops`."""
        pairs, fates = strip_pairs(piece.chunk), [Fate(fate) for fate in piece.fates.tolist()]

        def drop(position: int, reason: str) -> None:
            add_drops(drops, {reason: Drop.first(piece.chunk.place(position), pairs[position])})

        # The begin token opens targets; on the source side no text has it.
        tag = [self.source.begin] if self.tagged and self.tagged[piece.corpus] else []
        remaining = []
        for position, fate in enumerate(fates):
            if fate in REASONS:
                drop(position, REASONS[fate])
            else:
                remaining.append(position)
        for first in range(0, len(remaining), _ENCODED_AT_ONCE):
            positions = remaining[first : first + _ENCODED_AT_ONCE]
            encoded = encode_pairs(self.source, self.target, [pairs[p] for p in positions], self.tells_unknown)
            for position, (tokens, target) in zip(positions, encoded, strict=True):
                source = [*tag, *tokens]
                if reason := judge_lengths(len(source), len(target), self.cleaning):
                    drop(position, reason)
                else:
                    yield pairs[position], fates[position], (source, target)


def _has_tag(tokeniser: Tokeniser) -> bool:
    """Return True if the begin token has no other use and no text can contain it, not even by its name."""
    begin = tokeniser.begin
    is_own = begin not in (tokeniser.pad, tokeniser.end, tokeniser.unknown)
    return is_own and begin not in tokeniser.encode(tokeniser.pieces([begin])[0])


def strip_pairs(chunk: Chunk) -> list[tuple[str, str]]:
    """Return the pairs of some training lines without spaces at their ends, as they are compared and learnt."""
    return [(source.strip(), target.strip()) for source, target in chunk.pairs()]
