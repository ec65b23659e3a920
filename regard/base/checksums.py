"""Checksums: records that carry their own, and files whose checksums such a record holds.

A flipped bit in what a model learns from changes the model and nothing else, so nobody would ever notice.
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
_SETTLED = 1_000_000_000  # ns: two changes soon after each other may have the same time, by the coarse clocks of disks
_SEAL = re.compile(rb',\n "sha256": "([0-9a-f]{64})"\n\}\Z')


class Vouched(BaseModel):
    """The checksums of some files, by their names relative to the folder of this record."""

    files: dict[str, str]


class Verified(BaseModel):
    """Files of a folder as they were when they were last found to be as their checksums say."""

    files: dict[str, tuple[str, int, int]] = {}  # checksum, size in bytes, and when the file was last changed, in ns


def file_checksum(path: Path) -> str:
    with naming(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_checksums(paths: list[Path]) -> list[str]:
    """Those of many files; on several cores, since Python lets go of its lock while it hashes."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        return list(threads.map(file_checksum, paths))


def write_record(path: Path, record: BaseModel) -> None:
    """Write a record as JSON whose last entry is the checksum of all before it."""
    body = record.model_dump_json(indent=1).encode("utf-8")
    write_file(path, body.removesuffix(b"\n}") + f',\n "sha256": "{checksum(body)}"\n}}'.encode())


def read_record(kind: type[Record], path: Path) -> Record:
    """Read a record that must be as it was written."""
    record, is_sealed = read_any_record(kind, path)
    if not is_sealed:
        raise damage(path)
    return record


def read_any_record(kind: type[Record], path: Path) -> tuple[Record, bool]:
    """Read a record that may be older than checksums; gives whether it carries its own."""
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
    """Write files beside a record that vouches for them; it comes last."""
    for name, content in files.items():
        write_file(record.with_name(name), content)
    write_record(record, Vouched(files={name: checksum(content) for name, content in files.items()}))


def are_whole(record: Path) -> bool:
    """Return True if a record and all files it vouches for are as they were written."""
    try:
        files = read_record(Vouched, record).files
        return all(file_checksum(record.with_name(name)) == sum_ for name, sum_ in files.items())
    except (OSError, Fault):
        return False


def check_files(folder: Path, files: Mapping[str, str]) -> None:
    """Refuse a folder in which a file is not as its checksum says."""
    paths = [folder / name for name in files]
    if missing := [path for path in paths if not path.is_file()]:
        raise damage(missing[0], folder)
    for path, found, known in zip(paths, file_checksums(paths), files.values(), strict=True):
        if found != known:
            raise damage(path, folder)


def check_changed_files(folder: Path, files: Mapping[str, str], takes_note: bool = True) -> None:
    """Refuse a folder in which a file is not as its checksum says; what has not changed since it was so is not read.

    It `takes_note` of what was found whole for the next time, in the folder. Reading 20 GB takes 15 seconds of a core
    and as long as the disk needs, and a corpus is opened by every process of every run. The system knows when a file
    was last written, replaced or copied, whatever date it is given. Bits that go wrong on the disk itself it does not
    know of, and only `check_files` finds them.
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
        with suppress(Fault, OSError):  # of a folder that may only be read nothing is noted
            write_record(note, Verified(files=verified.files | settled))


def _state(path: Path, folder: Path) -> tuple[int, int]:
    try:
        about = path.stat()
    except OSError:
        raise damage(path, folder) from None
    return about.st_size, about.st_ctime_ns


def damage(path: Path, folder: Path | None = None) -> Fault:
    """Return the fault for a file that is not as it was written; `folder` is that of the whole corpus."""
    where = folder or "its folder"
    return Fault(f"{path} is missing, damaged or of another version; delete {where} and prepare the corpus again.")
