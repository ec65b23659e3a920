"""Output of commands: results to standard output, remarks and progress to standard error."""

import io
import json
import logging
import os
import shutil
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from regard.base.faults import Fault, printable
from regard.base.files import finite, is_same_file
from regard.base.progress import Progress
from regard.viewing.written import cell_len, holds_numbers, table_lines

_PATIENCE = 10.0  # seconds between two plain lines of progress
_NARROWEST = 24  # columns of the terminal that a column of long texts needs at least


class NoOutput(io.TextIOBase):
    """Replaces a closed standard output, so that results are not lost silently."""

    def write(self, text: str) -> int:
        raise Fault("There is no standard output to write the results to; it was closed.")


def remark(text: str) -> None:
    """Print something that is not a result to standard error."""
    if sys.stderr:  # print(file=None) would write to standard output
        print("\n".join(map(printable, text.split("\n"))), file=sys.stderr, flush=True)


class _Remarks(logging.Handler):
    """Prints each log message once as a remark, however often the same text is read."""

    def __init__(self) -> None:
        super().__init__()
        self.said: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text not in self.said:
            self.said.add(text)
            remark(text)


@contextmanager
def remarks_on_text() -> Iterator[None]:
    """Print log messages about the text that is read as remarks, inside this block."""
    logger, handler = logging.getLogger("regard.data"), _Remarks()
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def is_live(stream: TextIO | None) -> bool:
    """Return True if a person watches this stream on a terminal that can move its cursor."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def wants_colour(stream: TextIO | None) -> bool:
    """Return True if the stream may have colours; NO_COLOR, set to anything, turns them off (no-color.org)."""
    return is_live(stream) and not os.environ.get("NO_COLOR")


def terminal_width() -> int:
    """Return the columns of the terminal; 80 without a terminal."""
    return shutil.get_terminal_size().columns


@contextmanager
def console_progress() -> Iterator[Progress]:
    """Report progress on standard error: live bars on a terminal, otherwise plain lines now and then."""
    with _live_bars() if is_live(sys.stderr) else _plain_lines() as report:
        yield report


@contextmanager
def _live_bars() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}", markup=False),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    # Results on the same terminal are printed above the bars; results for a file or pipe are left alone.
    bars = Bars(*columns, console=Console(stderr=True), redirect_stdout=is_live(sys.stdout))
    tasks: dict[str, TaskID] = {}

    def report(what: str, done: int, total: int | None) -> None:
        if what not in tasks:
            tasks[what] = bars.add_task(what, total=total, count="")
        bars.update(tasks[what], completed=done, total=total, count=_count(done, total))

    with bars:
        yield report


@contextmanager
def _plain_lines() -> Iterator[Progress]:
    lines = _Lines()
    try:
        yield lines
    finally:
        lines.say_last()


class _Lines:
    """Prints the progress every few seconds, and at the end of each piece of work."""

    def __init__(self) -> None:
        self.what, self.unsaid, self.said_at = "", "", time.monotonic()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if what != self.what:
            self.say_last()
            self.what, self.said_at = what, time.monotonic()
        self.unsaid = f"{what} {_count(done, total)}"
        if time.monotonic() - self.said_at >= _PATIENCE:
            self.say_last()

    def say_last(self) -> None:
        if self.unsaid:
            remark(self.unsaid)
        self.unsaid, self.said_at = "", time.monotonic()


def _count(done: int, total: int | None) -> str:
    return f"{done:,}" if total is None else f"{done:,} of {total:,}"


def say_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table to standard output: plain aligned lines, or on a terminal ruled and wrapped.

    On a terminal that is too narrow for its numbers, each row is printed as a block with a line for each column.
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    if is_live(sys.stdout):
        if _narrowest(columns, rows) <= terminal_width():
            _say_drawn_table(columns, rows)
        else:
            _say_blocks(columns, rows)
    else:
        for line in table_lines(columns, rows):
            print(line)


def _narrowest(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the columns of the terminal that a table needs if no number is broken and long texts are wrapped."""
    needed = 0
    for place, column in enumerate(columns):
        widest = max((cell_len(cell) for cell in [column, *(row[place] for row in rows)]), default=0)
        needed += widest if holds_numbers(rows, place) else min(widest, _NARROWEST)
    return needed + 3 * len(columns) - 1  # with the space around and between the columns


def _say_blocks(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for number, row in enumerate(rows):
        if number:
            print()
        for line in table_lines(["", ""], list(zip(columns, row, strict=True)))[1:]:
            print(line)


def _say_drawn_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, column in enumerate(columns):
        if holds_numbers(rows, place):
            table.add_column(column, justify="right", no_wrap=True)
        else:
            table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)


def remark_written(out: Path, missing: Collection[str] = ()) -> None:
    """Report the file that was written and the characters no font here has; an .svg uses its reader's fonts."""
    if missing and out.suffix.lower() != ".svg":
        remark(f"No font here can draw {' '.join(sorted(missing))}; an .svg uses its reader's fonts.")
    remark(f"Wrote {out}.")


def print_json(value: Any, indent: int | None = 2) -> None:
    """Print a value as JSON, without escaping letters; numbers that are not finite become null."""
    print(json.dumps(finite(value), ensure_ascii=False, indent=indent, allow_nan=False))


def refuse_folder(path: Path) -> None:
    """Refuse to write a file over a folder."""
    if path.is_dir():
        raise Fault(f"{path} is a folder; name a file to write to.")


def refuse_existing(path: Path, overwrite: bool) -> None:
    """Refuse to replace a file or folder without --overwrite; devices and pipes may always be written to."""
    if not overwrite and (path.is_file() or path.is_dir()):
        raise Fault(f"{path} exists already; give --overwrite to replace it.")


def refuse_input(path: Path, inputs: Iterable[str | Path | None]) -> None:
    """Refuse to write over what the command reads, even with --overwrite; inputs may be texts, which are no files."""
    if any(name is not None and is_same_file(path, name) for name in inputs):
        raise Fault(f"{path} is an input too; write the output to another file.")
