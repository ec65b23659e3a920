"""Outputs that outlive a kill: a file of translations grows beside its place, with a record next to it.

After each portion of lines the text is forced to disk and then the record says so; the record also has what was asked
of which model, a digest of the lines that were read and one of what was written. Who goes on with it later cuts off
what the record does not vouch for. As all that was asked and read must be the same, the outcome is what one unbroken
run would have written.

The record is locked before anything is looked at, and it is the last to go. So from finding out what there is to
putting the whole file in its place, no other process can begin, go on with or finish the same output.
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

PORTION = 1024  # lines translated together, and kept together
Asked = dict[str, list[Any]]  # of the outputs of some lines, by name: a list with one for each line, or none


@dataclass(frozen=True)
class Kept:
    """State of an unfinished file: lines of input, bytes of their translations, and digests of both."""

    lines: int = 0
    size: int = 0
    read: str = ""
    written: str = ""


class GrowingFile:
    """A file of translations on its way, and what of it is kept whatever happens."""

    def __init__(self, out: Path, text: BinaryIO, record: BinaryIO, kept: Kept) -> None:
        self.out, self.text, self.record, self.kept = out, text, record, kept
        self.lines, self.read = 0, ""  # of the input so far
        self.written = _chain(kept.written)

    @property
    def kept_lines(self) -> int:
        """Lines of the input whose translations are there."""
        return self.kept.lines

    def take_note(self, lines: list[str], asked: Asked) -> None:
        """Note the next lines of the input; refuse those that the file's translations do not belong to."""
        total = self.lines + len(lines)
        read = digest_of_lines(self.read, lines, asked)
        if total == self.kept.lines and read != self.kept.read:
            raise self._other_input()
        self.lines, self.read = total, read

    def write(self, line: str) -> None:
        content = f"{line}\n".encode()
        self.text.write(content)
        self.written.update(content)

    def keep(self) -> None:
        """Vouch for all that was written, where whole portions were: then those to come are cut as they would be."""
        if self.lines % PORTION == 0:
            _force(self.text)
            self.kept = Kept(self.lines, self.text.tell(), self.read, self.written.hexdigest())
            self.written = _chain(self.kept.written)
            _append(self.record, asdict(self.kept))

    def end(self) -> None:
        """The input is over."""
        if self.lines < self.kept.lines:
            raise self._other_input()
        _force(self.text)

    def _other_input(self) -> Fault:
        return Fault(
            f"{self.out} cannot be resumed, because lines 1 to {self.kept.lines:,} of the input are not those "
            "that were translated; give the same input, or --overwrite without --resume to start again."
        )


class Unfinished:
    """The two files beside an output that is not whole yet, held by this process: its text so far, and its record."""

    def __init__(self, out: Path, text: Path, record: BinaryIO) -> None:
        self.out, self.text, self.record = out, text, record
        self.place = out.resolve()  # through a link, so that the link stays one

    @property
    def is_finished(self) -> bool:
        """Return True if the output is there and nothing of it is unfinished."""
        return self.out.exists() and not self.text.exists()

    def begin(self, resume: bool, overwrite: bool) -> Kept:
        """Return what there is of the output to continue."""
        if overwrite and not resume:
            return Kept()
        kept = self.read_kept()
        refuse_existing(self.out, overwrite)
        if kept.lines and not resume:
            raise Fault(
                f"{self.out} was begun and has {quantity(kept.lines, 'translated line')}; "
                "give --resume to go on from there, or --overwrite to start again."
            )
        return kept

    def read_kept(self) -> Kept:
        """Read how far an earlier run came; portions from the first damaged one on do not count."""
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

    def refuse_other(self, asked: dict[str, Any]) -> None:
        """Refuse to go on with something that was asked for in another way."""
        before, _ = self._entries()[0]
        refuse_difference(self.out, before, asked)

    @contextmanager
    def growing(self, asked: dict[str, Any], kept: Kept, overwrite: bool = False) -> Iterator[GrowingFile]:
        """The file, ready for what comes after that which is kept; when the block ends well it is in its place.

        Otherwise the portions that were kept stay there for another time, as they do where someone else has put a
        file there meanwhile that may not be overwritten.
        """
        ends = [end for entry, end in self._entries() if entry == asdict(kept)] if kept.lines else [0]
        self.record.truncate(*ends)  # before the text, so that at no moment it vouches for what is not there
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
        """Return the request, then the state after each portion, each with its end in the record.

        Nothing where not one portion was. A record without a text is of an output that was put in its place just before
        a kill, and the last line, if a kill has torn it, was never vouched for.
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
            made, entry = json.loads(line)
            if made == _checksum(entry):
                return dict(entry)
        except (ValueError, TypeError, RecursionError):
            pass
        raise Fault(
            f"{self.record.name} is damaged, or of another version of regard; "
            "give --overwrite without --resume to start again."
        )

    def _leave(self, file: GrowingFile) -> None:
        if not file.kept.lines:
            self.text.unlink(missing_ok=True)
        elif file.lines >= file.kept.lines:
            remark(
                f"Kept {quantity(file.kept.lines, 'translated line')}; "
                "the same command with --resume goes on from there."
            )


def remark_finished(out: Path, given: TextInput, lines_for_each: int) -> None:
    """Say that there is nothing to do, unless the number of lines shows that the output is of another input."""
    lines = given.count()
    if lines is None:
        remark(f"{out} is there, and nothing of it was left unfinished; nothing was done.")
        return
    found, expected = number_of_lines(out), lines * lines_for_each
    if found is None:
        raise Fault(f"{out} is there but cannot be read; give --overwrite to replace it.")
    if found != expected:
        raise Fault(
            f"{out} is there and has {quantity(found, 'line')}, where this input gives {expected:,}, so it is not what "
            "this command would write; give --overwrite to replace it."
        )
    remark(f"{out} is there with as many lines as this input gives; nothing was done.")


class Held(Fault):
    """An output that another process is writing."""


@contextmanager
def hold_output(out: Path) -> Iterator[Unfinished]:
    """Hold an unfinished output, which no other process can begin, continue or finish within the block."""
    refuse_missing_folder(out)
    place = out.resolve()
    text, record = (place.with_name(f".{place.name}.unfinished{ending}") for ending in ("", ".jsonl"))
    with _lock(record, out) as file:
        try:
            yield Unfinished(out, text, file)
        finally:
            if not text.exists():  # it is in its place, or was never begun
                record.unlink(missing_ok=True)


@contextmanager
def _lock(path: Path, out: Path) -> Iterator[BinaryIO]:
    """A file that one process holds at a time; it may be unlinked within the block by who holds it."""
    while True:
        with path.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Held(f"Another process is writing {out}; wait for it, or name another file.") from None
            if _is_at(file, path):
                yield file
                return
        # Who held it has unlinked it just before we could lock it: so we lock a new one.


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _force(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _append(record: BinaryIO, entry: dict[str, Any]) -> None:
    """Write a line that vouches for itself: without its checksum a changed digit could pass for another number."""
    record.write(json.dumps([_checksum(entry), entry]).encode() + b"\n")
    _force(record)


def _checksum(entry: dict[str, Any]) -> str:
    return _chain("", json.dumps(entry).encode()).hexdigest()


def _chain(before: str, content: bytes = b"") -> "hashlib._Hash":
    """A digest of a portion and, through theirs, of all that came before it."""
    return hashlib.sha256(before.encode() + content)


def digest_of_lines(before: str, lines: list[str], asked: Asked) -> str:
    """Return a digest of some lines, of what is asked of them, and, through theirs, of all lines before them."""
    return _chain(before, json.dumps([lines, asked]).encode()).hexdigest()


def refuse_difference(out: Path, before: dict[str, Any], asked: dict[str, Any]) -> None:
    """Refuse to go on with an output for which something else was asked before."""
    for name, value in asked.items():
        if before.get(name) != value:
            raise Fault(
                f"{out} was begun with something else: {_difference(name, before.get(name), value)}; "
                "give what was given at first, or --overwrite without --resume to start again."
            )


def _difference(name: str, before: Any, now: Any) -> str:
    """Describe a change at the end of a sentence; checksums of files mean nothing to people."""
    if not name.startswith("--"):
        return f"{name} has changed"
    said, says = ("not given" if value in (None, False, []) else repr(value) for value in (before, now))
    return f"{name} was {said} and is now {says}"
