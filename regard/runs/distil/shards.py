"""A file that grows in shards, each complete or absent, so that a run that was cut continues where it was."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from regard.base.files import whole_file
from regard.data.lines import read_lines

ShardWriter = Callable[[range], Iterable[str]]  # from the numbers of some items to their lines


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file, which appears once it is complete."""
    with whole_file(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)


def write_in_shards(path: Path, count: int, size: int, lines_of: ShardWriter) -> None:
    """Write the lines of `count` items, `size` of them in each shard; shards that are done are kept."""
    folder = path.with_suffix("")
    folder.mkdir(exist_ok=True)
    for number, first in enumerate(range(0, count, size)):
        shard = folder / f"{number:06}{path.suffix}"
        if not shard.exists():
            write_lines(shard, lines_of(range(first, min(first + size, count))))
    write_lines(path, (line for shard in sorted(folder.glob(f"*{path.suffix}")) for line in read_lines(shard)))
    shutil.rmtree(folder)


def has_begun(path: Path) -> bool:
    """Return True if some of a file is written."""
    return path.exists() or path.with_suffix("").exists()
