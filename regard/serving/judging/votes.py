"""The file of votes: one JSON object a line. The first line describes the comparison, each other one is a vote.

A vote is appended in one write and forced to disk. A process that is killed leaves at most an unfinished last line,
which readers ignore and the next vote replaces.
"""

import fcntl
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.base.faults import Fault
from regard.base.files import naming, read_bounded, refuse_missing_folder
from regard.metrics.judgements import Choice, Question, Side
from regard.serving.judging.comparison import Comparison

_MOST_BYTES = 2**28
_STRICT = ConfigDict(extra="forbid", frozen=True)
Kind = TypeVar("Kind", bound=BaseModel)


class Heading(BaseModel):
    """The first line: which comparison the votes are on, and what its sides are."""

    model_config = _STRICT
    comparison: str
    a: str
    b: str
    items: int = Field(ge=1)
    question: Question
    person: Side | None


class Vote(BaseModel):
    """A vote: who judged which item, the order in which the sides were shown, and the choice."""

    model_config = _STRICT
    comparison: str
    judge: str
    item: str
    order: tuple[Side, Side]
    choice: Choice
    time: str


@dataclass(frozen=True)
class VotesRead:
    """The content of a file of votes."""

    heading: Heading
    votes: Sequence[Vote]

    @property
    def ballots(self) -> dict[str, dict[str, Choice]]:
        """The last choice of each judge for each item."""
        found: dict[str, dict[str, Choice]] = {}
        for vote in self.votes:
            found.setdefault(vote.judge, {})[vote.item] = vote.choice
        return found


def heading_of(comparison: Comparison) -> Heading:
    return Heading(
        comparison=comparison.identity,
        a=comparison.a,
        b=comparison.b,
        items=len(comparison.items),
        question=comparison.question,
        person=comparison.person,
    )


def read_votes(path: Path) -> VotesRead:
    """Read a file of votes, or several of the same comparison that were joined; refuse other files."""
    if not path.is_file():
        raise Fault(f"There is no file of votes {path}; `regard judge A B --votes {path}` writes one.")
    lines = _finished_lines(read_bounded(path, _MOST_BYTES))
    if not lines:
        raise Fault(f"{path} has no votes.")
    heading, votes = _read_line(path, 1, lines[0], Heading), []
    for number, line in enumerate(lines[1:], 2):
        try:
            other = Heading.model_validate_json(line)
        except ValidationError:
            vote = _read_line(path, number, line, Vote)
            votes.append(vote)
            other = heading.model_copy(update={"comparison": vote.comparison})
        if other.comparison != heading.comparison:
            raise Fault(
                f"Line {number} of {path} is on another comparison than the first; keep them in separate files."
            )
    return VotesRead(heading, votes)


def _finished_lines(content: bytes) -> list[bytes]:
    """Return the lines that end; what a killed process left unfinished is no vote."""
    return content.split(b"\n")[:-1]


def _read_line(path: Path, number: int, line: bytes, kind: type[Kind]) -> Kind:
    try:
        return kind.model_validate_json(line)
    except ValidationError:
        what = "describe a comparison" if kind is Heading else "hold a vote"
        raise Fault(f"Line {number} of {path} does not {what}; is it a file of `regard judge`?") from None


class VotesFile:
    """A file of votes that is open for more, and the last choice of each judge for each item."""

    def __init__(self, path: Path, comparison: Comparison) -> None:
        """Open a file, or begin one; refuse the votes of another comparison."""
        self.path, heading = path, heading_of(comparison)
        self.ballots: dict[str, dict[str, Choice]] = {}
        if path.is_dir():
            raise Fault(f"{path} is a folder; name a file for the votes.")
        refuse_missing_folder(path)
        content = read_bounded(path, _MOST_BYTES) if path.exists() else b""
        if not _line_of(heading).startswith(content):  # which is empty, or an unfinished first line
            read = read_votes(path)
            if read.heading.comparison != heading.comparison:
                raise Fault(
                    f"{path} has votes on another comparison ({read.heading.a} and {read.heading.b}); "
                    "name another file with --votes."
                )
            self.ballots = read.ballots
        elif content != _line_of(heading):
            self._append(heading)

    def add(self, vote: Vote) -> None:
        """Append a vote; it counts once it is on disk."""
        self._append(vote)
        self.ballots.setdefault(vote.judge, {})[vote.item] = vote.choice

    def _append(self, record: BaseModel) -> None:
        with naming(self.path), self.path.open("a+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # another server may write to the same file
            _drop_unfinished(file)
            file.write(_line_of(record))
            os.fsync(file.fileno())


def _line_of(record: BaseModel) -> bytes:
    return record.model_dump_json().encode() + b"\n"


def _drop_unfinished(file: BinaryIO) -> None:
    """Cut what a killed process left after the last line."""
    size = file.seek(0, os.SEEK_END)
    while size:
        start = max(0, size - 4096)
        file.seek(start)
        block = file.read(size - start)
        size = start + block.rfind(b"\n") + 1
        if size > start:
            break
    file.truncate(size)
