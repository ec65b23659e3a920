"""Checksums: records that carry their own, and files whose checksums such a record holds.

A flipped bit in training data changes the model and nothing else, so nobody would notice it.
"""

import hashlib
import os
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from regard.base.faults import Fault
from regard.base.files import checksum, naming, write_file
from regard.base.parsing import MOST_LISTED, check_json_size

Record = TypeVar("Record", bound=BaseModel)

_VERIFIED = ".verified.json"
_SETTLED = 1_000_000_000  # ns: disks have coarse clocks, so two quick changes may have the same time
_SEAL = re.compile(rb',\n "sha256": "([0-9a-f]{64})"\n\}\Z')


class Vouched(BaseModel):
    """Checksums of some files, by their names relative to the folder of this record."""

    files: dict[str, str]


class Verified(BaseModel):
    """State of a folder's files when they last matched their checksums."""

    files: dict[str, tuple[str, int, int]] = {}  # checksum, size in bytes, and time of the last change in ns


def file_checksum(path: Path) -> str:
    with naming(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_checksums(paths: list[Path]) -> list[str]:
    """Return the checksums of many files, computed on several cores, since Python releases its lock while hashing."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        return list(threads.map(file_checksum, paths))


def write_record(path: Path, record: BaseModel) -> None:
    """Write a record as JSON whose last entry is the checksum of everything before it."""
    body = record.model_dump_json(indent=1).encode("utf-8")
    write_file(path, body.removesuffix(b"\n}") + f',\n "sha256": "{checksum(body)}"\n}}'.encode())


def read_record(kind: type[Record], path: Path) -> Record:
    """Read a record; refuse it if it was changed."""
    record, is_sealed = read_any_record(kind, path)
    if not is_sealed:
        raise damage(path)
    return record


def read_any_record(kind: type[Record], path: Path) -> tuple[Record, bool]:
    """Read a record that may be older than checksums; also return True if its own checksum is right."""
    try:
        with naming(path):
            content = path.read_bytes()
        check_json_size(content, str(path), MOST_LISTED)
        record = kind.model_validate_json(content)
    except (FileNotFoundError, ValidationError):
        raise damage(path) from None
    seal = _SEAL.search(content)
    return record, seal is not None and checksum(content[: seal.start()] + b"\n}") == seal[1].decode()


def write_vouched(record: Path, files: Mapping[str, bytes]) -> None:
    """Write files next to a record with their checksums, which is written last."""
    for name, content in files.items():
        write_file(record.with_name(name), content)
    write_record(record, Vouched(files={name: checksum(content) for name, content in files.items()}))


def are_whole(record: Path) -> bool:
    """Return True if a record and all its files are unchanged."""
    try:
        files = read_record(Vouched, record).files
        return all(file_checksum(record.with_name(name)) == sum_ for name, sum_ in files.items())
    except (OSError, Fault):
        return False


def check_files(folder: Path, files: Mapping[str, str]) -> None:
    """Refuse a folder in which a file does not match its checksum."""
    paths = [folder / name for name in files]
    if missing := [path for path in paths if not path.is_file()]:
        raise damage(missing[0], folder)
    for path, actual, expected in zip(paths, file_checksums(paths), files.values(), strict=True):
        if actual != expected:
            raise damage(path, folder)


def check_changed_files(folder: Path, files: Mapping[str, str], takes_note: bool = True) -> None:
    """Refuse a folder in which a file does not match its checksum; files unchanged since the last check are not read.

    If `takes_note`, what was verified is recorded in the folder for the next time. Reading 20 GB takes 15 seconds of a
    core plus disk time, and every process of every run opens a corpus. The system knows when a file was last written,
    replaced or copied, whatever date it is given. It does not notice bits that flip on the disk itself; only
    `check_files` does.
    """
    note = folder / _VERIFIED
    try:
        verified = read_record(Verified, note)
    except (OSError, Fault):
        verified = Verified()
    before = time.time_ns()
    states = {name: (sum_, *_state(folder / name, folder)) for name, sum_ in files.items()}
    changed = {name: files[name] for name, state in states.items() if verified.files.get(name) != state}
    check_files(folder, changed)
    settled = {name: states[name] for name in changed if before - states[name][2] > _SETTLED}
    if takes_note and settled:
        with suppress(Fault, OSError):  # a read-only folder gets no record
            write_record(note, Verified(files=verified.files | settled))


def _state(path: Path, folder: Path) -> tuple[int, int]:
    try:
        about = path.stat()
    except OSError:
        raise damage(path, folder) from None
    return about.st_size, about.st_ctime_ns


def damage(path: Path, folder: Path | None = None) -> Fault:
    """Return the fault for a file that was changed; `folder` is that of the whole corpus."""
    where = folder or "its folder"
    return Fault(f"{path} is missing, damaged or of another version; delete {where} and prepare the corpus again.")
