"""A file in shards: neighbouring lines that one process translates by itself, into a file of its own.

A shard begins where one process would begin a portion. So a line is translated in the same batch whoever does it, and
the shards, put in a row, are what one process would have written, to the last bit of a score.

They lie in a folder beside the output, `OUT.shards`, till they are joined.
"""

import re
import shutil
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from regard.base.faults import Fault
from regard.data.lines import LineRange, line_starts
from regard.verbs.translate import unfinished

MOST_SHARDS = 64  # where nobody says how many; few enough to be looked at, and enough for the workers of one machine

_NAME = re.compile(r"\.?\d+-of-(\d+)(?:\.done|\.unfinished(?:\.jsonl)?)?")


@dataclass(frozen=True)
class Shard:
    """Some lines of a file, which of so many shards they are, counted from 1."""

    number: int
    of: int
    lines: LineRange

    @property
    def name(self) -> str:
        """Name of the file with its translations."""
        return f"{self.number:0{len(str(self.of))}d}-of-{self.of}"

    @property
    def is_last(self) -> bool:
        return self.number == self.of

    def __str__(self) -> str:
        first, count = self.lines.first + 1, self.lines.count
        return f"lines {first:,} to {first + count - 1:,}" if count else "no lines"


def cut_into_shards(source: Path, of: int | None) -> list[Shard]:
    """The shards of a file, as even as portions allow; without a number as many as there are portions, up to a limit.

    The file is read through once, and what is kept of it is a number for each portion.
    """
    portion = unfinished.PORTION
    starts, lines = line_starts(source, portion)
    of = of or max(1, min(MOST_SHARDS, len(starts)))
    ends = [number * len(starts) // of for number in range(of + 1)]
    return [
        Shard(number, of, _lines_between(first * portion, min(end * portion, lines), starts[first : first + 1]))
        for number, (first, end) in enumerate(pairwise(ends), 1)
    ]


def _lines_between(first: int, end: int, start: list[int]) -> LineRange:
    return LineRange(first, max(0, end - first), *(start or [0]))


def shard_folder(out: Path) -> Path:
    """Where the shards of an output lie."""
    place = out.resolve()
    return place.with_name(f"{place.name}.shards")


def number_of_shards(folder: Path) -> int | None:
    """Return how many shards an output was cut into before, if anything was done for it."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    counts = {int(found[1]) for name in names if (found := _NAME.fullmatch(name))}
    if len(counts) > 1:
        several = " and of ".join(map(str, sorted(counts)))
        raise Fault(f"{folder} has shards of several divisions ({several}); delete those of all but one.")
    return counts.pop() if counts else None


def remove_shards(folder: Path) -> None:
    """Remove a folder of shards, if it is there."""
    if folder.is_dir():
        shutil.rmtree(folder)


def refuse_shards(out: Path, resume: bool, overwrite: bool) -> None:
    """Refuse to translate by one process what was begun in shards; who begins anew removes these."""
    folder = shard_folder(out)
    if overwrite and not resume:
        remove_shards(folder)
    elif number_of_shards(folder):
        raise Fault(
            f"{out} was begun in shards; go on with --workers and --resume, "
            "or give --overwrite without --resume to start again."
        )
