"""A file in shards: neighbouring lines that one process translates into a separate file.

A shard begins where a single process would begin a portion. So every line is translated in the same batch whoever does
it, and the joined shards equal the output of one process, to the last bit of a score.

They are in a folder next to the output, `OUT.shards`, until they are joined.
"""

import re
import shutil
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from regard.base.faults import Fault
from regard.data.lines import LineRange, line_starts
from regard.verbs.translate import unfinished

MOST_SHARDS = 64  # by default; few enough to look at, and enough for the workers of one machine

_NAME = re.compile(r"\.?\d+-of-(\d+)(?:\.done|\.unfinished(?:\.jsonl)?)?")


@dataclass(frozen=True)
class Shard:
    """Some lines of a file as shard `number`, counted from 1, of `of` shards."""

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
    """Divide a file into shards as evenly as portions allow; by default as many as portions, up to a limit.

    The file is read once; only a number for each portion stays in memory.
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
    """Return the folder of an output's shards."""
    place = out.resolve()
    return place.with_name(f"{place.name}.shards")


def number_of_shards(folder: Path) -> int | None:
    """Return the number of shards that an earlier run divided an output into, or None."""
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    counts = {int(match[1]) for name in names if (match := _NAME.fullmatch(name))}
    if len(counts) > 1:
        divisions = " and of ".join(map(str, sorted(counts)))
        raise Fault(f"{folder} has shards of several divisions ({divisions}); delete those of all but one.")
    return counts.pop() if counts else None


def remove_shards(folder: Path) -> None:
    """Remove a folder of shards, if it exists."""
    if folder.is_dir():
        shutil.rmtree(folder)


def refuse_shards(out: Path, resume: bool, overwrite: bool) -> None:
    """Refuse to continue with one process what was begun in shards; remove the shards when starting again."""
    folder = shard_folder(out)
    if overwrite and not resume:
        remove_shards(folder)
    elif number_of_shards(folder):
        raise Fault(
            f"{out} was begun in shards; continue with --workers and --resume, "
            "or give --overwrite without --resume to start again."
        )
