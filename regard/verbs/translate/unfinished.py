"""Outputs that survive a kill: a file of translations grows next to its final place, along with a record.

After each portion of lines the text is synced to disk, and then the record says so. The record also holds the request,
the model, and digests of the lines read and written. A later run cuts off whatever the record does not confirm. As the
request and the input must be the same, the result equals that of one uninterrupted run.

The record is locked before anything is read, and it is removed last. So no other process can begin, continue or finish
the same output at the same time.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.files import refuse_missing_folder
from regard.console import refuse_existing, remark
from regard.console.lines import TextInput, number_of_lines

PORTION = 1024  # lines that are translated and saved together
Asked = dict[
    str, list[Any]
]  # constraints on the outputs of some lines, by name: a list with one for each line, or empty


@dataclass(frozen=True)
class Kept:
    """State of an unfinished file: lines of input, bytes of their translations, and digests of both."""

    lines: int = 0
    size: int = 0
    read: str = ""
    written: str = ""


class GrowingFile:
    """A growing file of translations, and how much of it is safe."""

    def __init__(self, out: Path, text: BinaryIO, record: BinaryIO, kept: Kept) -> None:
        self.out, self.text, self.record, self.kept = out, text, record, kept
        self.lines, self.read = 0, ""  # lines of the input so far, and their digest
        self.written = _chain(kept.written)

    @property
    def kept_lines(self) -> int:
        """Number of input lines whose translations are saved."""
        return self.kept.lines

    def take_note(self, lines: list[str], asked: Asked) -> None:
        """Note the next lines of the input; refuse those that the file's translations do not belong to."""
        total = self.lines + len(lines)
        digest = digest_of_lines(self.read, lines, asked)
        if total == self.kept.lines and digest != self.kept.read:
            raise self._other_input()
        self.lines, self.read = total, digest

    def write(self, line: str) -> None:
        content = f"{line}\n".encode()
        self.text.write(content)
        self.written.update(content)

    def keep(self) -> None:
        """Record everything written so far, if it is whole portions, so that later ones are divided the same way."""
        if self.lines % PORTION == 0:
            _force(self.text)
            self.kept = Kept(self.lines, self.text.tell(), self.read, self.written.hexdigest())
            self.written = _chain(self.kept.written)
            _append(self.record, asdict(self.kept))

    def end(self) -> None:
        """Finish the file at the end of the input."""
        if self.lines < self.kept.lines:
            raise self._other_input()
        _force(self.text)

    def _other_input(self) -> Fault:
        return Fault(
            f"{self.out} cannot be resumed, because lines 1 to {self.kept.lines:,} of the input are not those "
            "that were translated; give the same input, or --overwrite without --resume to start again."
        )


class Unfinished:
    """The two files of an incomplete output, locked by this process: its text so far, and its record."""

    def __init__(self, out: Path, text: Path, record: BinaryIO) -> None:
        self.out, self.text, self.record = out, text, record
        self.place = out.resolve()  # resolves a link, so that the link itself stays

    @property
    def is_finished(self) -> bool:
        """True if the output exists and nothing of it is unfinished."""
        return self.out.exists() and not self.text.exists()

    def begin(self, resume: bool, overwrite: bool) -> Kept:
        """Return how much of the output can be continued."""
        if overwrite and not resume:
            return Kept()
        kept = self.read_kept()
        refuse_existing(self.out, overwrite)
        if kept.lines and not resume:
            raise Fault(
                f"{self.out} was begun and has {quantity(kept.lines, 'translated line')}; "
                "give --resume to continue, or --overwrite to start again."
            )
        return kept

    def read_kept(self) -> Kept:
        """Return how far an earlier run came; portions from the first damaged one on do not count."""
        _, *entries = self._entries() or [({}, 0)]
        if not entries:
            return Kept()
        good = Kept()
        with self.text.open("rb") as text:
            for entry, _ in entries:
                kept = Kept(**entry)
                if _chain(good.written, text.read(kept.size - good.size)).hexdigest() != kept.written:
                    remark(f"{self.text} is damaged; only {quantity(good.lines, 'translated line')} of it can be kept.")
                    break
                good = kept
        return good

    def refuse_other(self, record: dict[str, Any]) -> None:
        """Refuse to continue an output that was begun with a different request."""
        before, _ = self._entries()[0]
        refuse_difference(self.out, before, record)

    @contextmanager
    def growing(self, asked: dict[str, Any], kept: Kept, overwrite: bool = False) -> Iterator[GrowingFile]:
        """Open the file after the saved lines; when the block succeeds, it is moved into place.

        Otherwise the saved portions stay for a later run, also if another file has appeared in its place meanwhile that
        may not be overwritten.
        """
        ends = [end for entry, end in self._entries() if entry == asdict(kept)] if kept.lines else [0]
        self.record.truncate(*ends)  # before the text, so that it never confirms text that does not exist
        with self.text.open("ab") as text:
            text.truncate(kept.size)
            if not kept.lines:
                _append(self.record, asked)
            file = GrowingFile(self.out, text, self.record, kept)
            try:
                yield file
                file.end()
                refuse_existing(self.out, overwrite)
            except BaseException:
                self._leave(file)
                raise
            self.text.replace(self.place)

    def _entries(self) -> list[tuple[dict[str, Any], int]]:
        """Return the request and then the state after each portion, each with its end in the record.

        Return nothing if no portion was finished. A record without a text belongs to an output that was moved into
        place just before a kill. A last line that a kill has cut short does not count.
        """
        if not self.text.exists():
            return []
        entries: list[tuple[dict[str, Any], int]] = []
        end = 0
        for line in Path(self.record.name).read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                end += len(line)
                entries.append((self._entry(line), end))
        return entries if len(entries) > 1 else []

    def _entry(self, line: bytes) -> dict[str, Any]:
        try:
            sum_, entry = json.loads(line)
            if sum_ == _checksum(entry):
                return dict(entry)
        except (ValueError, TypeError, RecursionError):
            pass
        raise Fault(
            f"{self.record.name} is damaged or was written by another version of regard; "
            "give --overwrite without --resume to start again."
        )

    def _leave(self, file: GrowingFile) -> None:
        if not file.kept.lines:
            self.text.unlink(missing_ok=True)
        elif file.lines >= file.kept.lines:
            remark(
                f"Kept {quantity(file.kept.lines, 'translated line')}; "
                "the same command with --resume continues from there."
            )


def remark_finished(out: Path, source: TextInput, lines_for_each: int) -> None:
    """Report that there is nothing to do; refuse an output whose number of lines shows that it has another input."""
    lines = source.count()
    if lines is None:
        remark(f"{out} exists and is not unfinished; nothing was done.")
        return
    actual, expected = number_of_lines(out), lines * lines_for_each
    if actual is None:
        raise Fault(f"{out} exists but cannot be read; give --overwrite to replace it.")
    if actual != expected:
        raise Fault(
            f"{out} exists with {quantity(actual, 'line')}, but this input gives {expected:,}, so it is not the output "
            "of this command; give --overwrite to replace it."
        )
    remark(f"{out} exists with as many lines as this input gives; nothing was done.")


class Held(Fault):
    """An output that another process is writing."""


@contextmanager
def hold_output(out: Path) -> Iterator[Unfinished]:
    """Lock an unfinished output, so that no other process can begin, continue or finish it within the block."""
    refuse_missing_folder(out)
    place = out.resolve()
    text, record = (place.with_name(f".{place.name}.unfinished{ending}") for ending in ("", ".jsonl"))
    with _lock(record, out) as file:
        try:
            yield Unfinished(out, text, file)
        finally:
            if not text.exists():  # it was moved into place, or never begun
                record.unlink(missing_ok=True)


@contextmanager
def _lock(path: Path, out: Path) -> Iterator[BinaryIO]:
    """Open a file that one process holds at a time; the holder may unlink it within the block."""
    while True:
        with path.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Held(f"Another process is writing {out}; wait for it, or name another file.") from None
            if _is_at(file, path):
                yield file
                return
        # The previous holder unlinked it just before we locked it, so lock a new one.


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _force(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _append(record: BinaryIO, entry: dict[str, Any]) -> None:
    """Append an entry with its checksum; without it, a changed digit could pass for another number."""
    record.write(json.dumps([_checksum(entry), entry]).encode() + b"\n")
    _force(record)


def _checksum(entry: dict[str, Any]) -> str:
    return _chain("", json.dumps(entry).encode()).hexdigest()


def _chain(before: str, content: bytes = b"") -> "hashlib._Hash":
    """Return a digest of a portion and of everything before it, whose digest is `before`."""
    return hashlib.sha256(before.encode() + content)


def digest_of_lines(before: str, lines: list[str], asked: Asked) -> str:
    """Return a digest of some lines, their constraints, and all lines before them."""
    return _chain(before, json.dumps([lines, asked]).encode()).hexdigest()


def refuse_difference(out: Path, before: dict[str, Any], record: dict[str, Any]) -> None:
    """Refuse to continue an output that was begun with a different request."""
    for name, value in record.items():
        if before.get(name) != value:
            raise Fault(
                f"{out} was begun differently: {_difference(name, before.get(name), value)}; "
                "give the same as at first, or --overwrite without --resume to start again."
            )


def _difference(name: str, before: Any, now: Any) -> str:
    """Describe a changed entry for the end of a sentence; checksums of files are not shown."""
    if not name.startswith("--"):
        return f"{name} has changed"
    old, new = ("not given" if value in (None, False, []) else repr(value) for value in (before, now))
    return f"{name} was {old} and is now {new}"
