"""Lines in, translations out, whatever makes them; files that ask something of each line; outputs that outlive a kill.

A file of translations grows beside its place, with a record next to it. After each portion of lines the text is forced
to disk and then the record says so; the record also has what was asked of which model, and a digest of the lines that
were read. Who goes on with it later cuts off what the record does not vouch for. As all that was asked and read must be
the same, the outcome is what one unbroken run would have written.
"""

import fcntl
import hashlib
import json
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from regard.cli.console import remark
from regard.faults import Fault, OfText, TooLong

if TYPE_CHECKING:
    from regard.translated import Cutting, Translated

PORTION = 1024  # lines translated together, and kept together


@dataclass(frozen=True)
class LineWishes:
    """What is asked of the outputs of some lines: prefixes and required phrases, a list for each line, or none."""

    prefixes: list[str]
    required: list[list[str]]
    forced: list[str]  # the outputs themselves, if they are only to be scored


@dataclass(frozen=True)
class Translator:
    """Lines in, translations out; `count` candidates are written for each line, or its score alone."""

    count: int
    gives_scores: bool
    cutting: "Cutting"
    translate: Callable[[list[str], list[int], LineWishes], "list[Translated]"]
    long_lines: list[int] = field(default_factory=list)  # numbers of those longer than any that the model learnt from

    def __call__(self, lines: list[str], first: int, wishes: LineWishes) -> "Iterator[Translated]":
        """The translations of some lines, of which the first has the number `first`."""
        from regard.translated import joined, line_key

        cut = [self.cutting(line) for line in lines]
        self.long_lines.extend(
            first + number for number, parts in enumerate(cut) if any(self.cutting.is_long(part.text) for part in parts)
        )
        numbers = [number for number, parts in enumerate(cut) for _ in parts]
        keys = [line_key(first + number, part) for number, parts in enumerate(cut) for part in range(len(parts))]
        try:
            found = iter(self.translate([part.text for parts in cut for part in parts], keys, wishes))
        except OfText as fault:
            raise Fault(f"Line {first + numbers[fault.number] + 1}: {self._mendable(fault, wishes)}") from None
        for parts in cut:
            yield joined(parts, list(islice(found, len(parts))))

    def _mendable(self, fault: OfText, wishes: LineWishes) -> str:
        """What is wrong with a line, and the option that mends it, where there is one."""
        whole_lines = wishes.prefixes or wishes.required or wishes.forced
        if not isinstance(fault, TooLong) or self.cutting.long_ones or whole_lines:
            return fault.sentence
        return f"{fault.sentence.removesuffix('.')}, or give --too-long split."


def number_of_lines(path: Path) -> int | None:
    """How many lines a file has; nobody knows of a pipe, nor of what cannot be read, which is told by who reads it."""
    from regard.data.unpack import open_content

    if not path.is_file():
        return None
    count, last = 0, b"\n"
    try:
        with open_content(path) as stream:
            while block := stream.read(2**20):
                count, last = count + block.count(b"\n"), block[-1:]
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return None
    return count + (last != b"\n")


class WishesByLine:
    """The files that ask something of each line, read along with the input."""

    def __init__(self, prefixes: Path | None, required: Path | None, forced: Path | None) -> None:
        self.prefixes, self.required, self.forced = _Lines(prefixes), _Lines(required), _Lines(forced)

    @property
    def given(self) -> bool:
        return any(file.path is not None for file in (self.prefixes, self.required))

    @property
    def files(self) -> list[Path]:
        return [file.path for file in (self.prefixes, self.required, self.forced) if file.path is not None]

    def take(self, count: int) -> LineWishes:
        """For the next `count` lines."""
        phrases = [[each for each in line.split("\t") if each] for line in self.required.take(count)]
        return LineWishes(self.prefixes.take(count), phrases, self.forced.take(count))

    def end(self) -> None:
        """Refuse files that go on when the input is over."""
        for file in (self.prefixes, self.required, self.forced):
            file.end()


class _Lines:
    def __init__(self, path: Path | None) -> None:
        from regard.data.text import read_lines

        self.path, self.seen = path, 0
        self.lines = iter(read_lines(path)) if path is not None else None

    def take(self, count: int) -> list[str]:
        if self.lines is None:
            return []
        found = list(islice(self.lines, count))
        self.seen += len(found)
        if len(found) < count:
            raise Fault(f"{self.path} has {self.seen} lines, but the input has more; give a line for each.")
        return found

    def end(self) -> None:
        if self.lines is not None and next(self.lines, None) is not None:
            raise Fault(f"{self.path} has more lines than the input, which has {self.seen}; give a line for each.")


@dataclass(frozen=True)
class Kept:
    """How far an unfinished file is vouched for: lines of input, bytes of their translations, a digest of the lines."""

    lines: int = 0
    size: int = 0
    digest: str = ""

    def __post_init__(self) -> None:
        if not (isinstance(self.lines, int) and isinstance(self.size, int) and self.lines >= 0 and self.size >= 0):
            raise TypeError("lines and bytes are counted")


class Stream:
    """Standard output, a device or a pipe: what is written is gone, and nothing of it is kept."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def covers(self, lines: list[str], wishes: LineWishes) -> bool:
        return False

    def write(self, line: str) -> None:
        print(line, file=self.stream)

    def keep(self) -> None:
        self.stream.flush()


class GrowingFile:
    """A file of translations on its way, and what of it is kept whatever happens."""

    def __init__(self, out: Path, text: BinaryIO, record: BinaryIO, kept: Kept) -> None:
        self.out, self.text, self.record, self.kept = out, text, record, kept
        self.lines, self.digest = 0, ""  # of what was read

    def covers(self, lines: list[str], wishes: LineWishes) -> bool:
        """Take note of the next lines of the input, and say whether the file has what becomes of them already."""
        total = self.lines + len(lines)
        digest = hashlib.sha256(json.dumps([self.digest, lines, asdict(wishes)]).encode()).hexdigest()
        if total == self.kept.lines and digest != self.kept.digest:
            raise self._other_input()
        self.lines, self.digest = total, digest
        return total <= self.kept.lines

    def write(self, line: str) -> None:
        self.text.write(f"{line}\n".encode())

    def keep(self) -> None:
        """Vouch for all that was written, where whole portions were: then those to come are cut as they would be."""
        if self.lines % PORTION == 0:
            _force(self.text)
            self.kept = Kept(self.lines, self.text.tell(), self.digest)
            _append(self.record, asdict(self.kept))

    def end(self) -> None:
        """The input is over."""
        if self.lines < self.kept.lines:
            raise self._other_input()
        _force(self.text)

    def _other_input(self) -> Fault:
        return Fault(
            f"{self.out} cannot be resumed, for the first {self.kept.lines:,} lines of the input are not those "
            "that were translated; give the same input, or --overwrite without --resume to begin anew."
        )


class Unfinished:
    """The two files beside an output that is not whole yet: its text so far, and the record of it."""

    def __init__(self, out: Path) -> None:
        if not out.parent.is_dir():
            raise Fault(f"There is no folder {out.parent} to write {out.name} into.")
        self.out, self.place = out, out.resolve()  # through a link, so that the link stays one
        self.text = self.place.with_name(f".{self.place.name}.unfinished")
        self.record = self.place.with_name(f".{self.place.name}.unfinished.jsonl")

    @property
    def is_begun(self) -> bool:
        """Whether an earlier run was stopped on its way, even if nothing of it is kept."""
        return self.text.exists()

    def kept(self) -> Kept:
        """How far an earlier run came."""
        *_, last = self._entries() or [{}]
        try:
            kept = Kept(**last)
        except TypeError:
            raise self._damaged() from None
        if kept.lines and self.text.stat().st_size < kept.size:
            raise Fault(
                f"{self.text} is shorter than its record says; give --overwrite without --resume to begin anew."
            )
        return kept

    def refuse_other(self, asked: dict[str, Any]) -> None:
        """Refuse to go on with something that was asked for in another way."""
        before = self._entries()[0]
        for name, value in asked.items():
            if before.get(name) != value:
                raise Fault(
                    f"{self.out} cannot be resumed, for {_difference(name, before.get(name), value)}; "
                    "give what was given at first, or --overwrite without --resume to begin anew."
                )

    @contextmanager
    def growing(self, asked: dict[str, Any], kept: Kept) -> Iterator[GrowingFile]:
        """The file, ready for what comes after that which is kept; when the block ends well it is in its place.

        Otherwise the portions that were kept stay there for another time.
        """
        with self.text.open("ab") as text, self.record.open("ab") as record:
            self._lock(text)
            text.truncate(kept.size)
            record.truncate(_whole(self.record) if kept.lines else 0)
            if not kept.lines:
                _append(record, asked)
            file = GrowingFile(self.out, text, record, kept)
            try:
                yield file
                file.end()
            except BaseException:
                self._leave(file)
                raise
            self.text.replace(self.place)
            self.record.unlink()

    def _entries(self) -> list[dict[str, Any]]:
        """What was asked, then what was kept after each portion; nothing where not one was."""
        if not (self.text.exists() and self.record.exists()):
            return []
        lines = self.record.read_bytes()[: _whole(self.record)].splitlines()
        try:
            entries = [json.loads(line) for line in lines] if len(lines) > 1 else []
        except ValueError:
            raise self._damaged() from None
        if not all(isinstance(entry, dict) for entry in entries):
            raise self._damaged()
        return entries

    def _damaged(self) -> Fault:
        return Fault(f"{self.record} is damaged; give --overwrite without --resume to begin anew.")

    def _lock(self, text: BinaryIO) -> None:
        """Refuse where someone else is writing, or has just put this very file in its place."""
        try:
            fcntl.flock(text, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(text.fileno()), self.text.stat()):
                return
        except (BlockingIOError, FileNotFoundError):
            pass
        raise Fault(f"Another process is writing {self.out}; wait for it, or name another file.")

    def _leave(self, file: GrowingFile) -> None:
        if not file.kept.lines:
            self.text.unlink(missing_ok=True)
            self.record.unlink(missing_ok=True)
        elif file.lines >= file.kept.lines:
            remark(
                f"What the first {file.kept.lines:,} lines became is kept; the same with --resume goes on from there."
            )


def _force(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _append(record: BinaryIO, entry: dict[str, Any]) -> None:
    record.write(json.dumps(entry).encode() + b"\n")
    _force(record)


def _whole(record: Path) -> int:
    """Bytes of a record up to its last whole line: one that a kill has torn was never vouched for."""
    return record.read_bytes().rfind(b"\n") + 1


def _difference(name: str, before: Any, now: Any) -> str:
    """What changed, as the end of a sentence; of files there are checksums, which tell people nothing."""
    if not name.startswith("--"):
        return f"{name} has changed"
    said, says = ("not given" if value in (None, False, []) else repr(value) for value in (before, now))
    return f"{name} was {said} and is now {says}"
