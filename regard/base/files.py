"""Files that are complete or absent: written under a temporary name, forced to disk, renamed."""

import errno
import hashlib
import math
import os
import resource
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from regard.base.faults import Fault

_FREE_SIZE, _TIMES_NEEDED = 2**26, 4  # limits on a file: free bytes, and times the bytes it needs
_LONGEST_NAME = 255  # bytes of a file name, as in Linux
_OPEN_ANYWAY = 256  # reserve for files and sockets of torch, a server or a log


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the file name to system errors in this block: once a file is open, they have none."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def is_same_file(path: Path, name: str | Path) -> bool:
    """Return True if both name one existing file; a name may be a text that no file can have."""
    try:
        return path.samefile(name)
    except (OSError, ValueError):
        return False


def refuse_missing_folder(path: Path) -> None:
    """Refuse to write a file into a missing folder; a link counts by its target."""
    place = path.resolve() if path.is_symlink() else path
    if not place.parent.is_dir():
        raise Fault(f"There is no folder {place.parent} to write {place.name} into.")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that appears at `path` when the block succeeds; otherwise what was there stays.

    The temporary file has a fixed name, so the leftovers of a killed process are overwritten next time. A disk that is
    full or read-only is a fault that names `path`; other errors of the block pass unchanged. A device or a pipe, such
    as /dev/stdout, is written to directly: a file must not replace it.
    """
    refuse_missing_folder(path)
    if path.is_dir():
        raise Fault(f"{path} is a folder; name a file to write to.")
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    place = path.resolve()  # resolved, so that a link stays a link
    beside = place.with_name(f".{place.name}.partial")
    try:
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Fault(f"The disk is full: {path} could not be written; what was there before is intact.") from error
        if error.filename in (None, str(beside)):
            raise Fault(f"{path} cannot be written: {error.strerror}.") from error
        raise
    finally:
        with suppress(OSError):  # a read-only folder does not allow removal either
            beside.unlink(missing_ok=True)


def write_file(path: Path, content: bytes) -> None:
    """Write a file with this content in one step."""
    with whole_file(path) as file:
        file.write(content)


def checksum(content: bytes | bytearray) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()


def allow_open_files(count: int, user: str) -> None:
    """Allow this process `count` open files plus a reserve; `user` names what needs them, for a fault."""
    needed = count + _OPEN_ANYWAY
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise Fault(f"{user} needs {needed:,} open files, but this system allows {hard:,} (ulimit -Hn).")
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def read_regular_file(path: Path) -> bytes:
    """Read a file of an untrusted folder without following links or waiting for pipes.

    Anything but a regular file, or a file larger than the free memory, raises OSError like other read errors.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is a device, a pipe or a folder", str(path))
        if about.st_size > _free_memory():
            raise OSError(errno.ENOMEM, f"its {about.st_size:,} bytes are more than the free memory", str(path))
        return file.read()


def is_inner_file(folder: Path, name: str) -> bool:
    """Return True if an untrusted name from a list can be that of a file directly in its folder."""
    if Path(name).name != name or not name.isprintable() or len(name.encode()) > _LONGEST_NAME:
        return False
    return not (folder / name).is_symlink()


def read_bounded(path: Path, most: int) -> bytes:
    """Read a file of at most `most` bytes; refuse a larger one."""
    if not path.is_file():
        raise Fault(f"There is no {path}.")
    with naming(path), path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise Fault(f"{path} has {path.stat().st_size:,} bytes, which is too large for such a file.")
    return content


def refuse_oversized(path: Path, needed: int) -> None:
    """Refuse a file that is far larger than its content needs, before reading any of it."""
    if path.is_file() and (size := path.stat().st_size) > _FREE_SIZE + _TIMES_NEEDED * needed:
        raise Fault(f"{path} has {size:,} bytes, but its content needs only {needed:,}.")


def _free_memory() -> int:
    """Return the bytes of available memory according to Linux, or all memory if it does not say."""
    with suppress(OSError, StopIteration), Path("/proc/meminfo").open(encoding="ascii") as lines:
        return int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def finite(value: Any) -> Any:
    """Return a value for JSON, which has only finite numbers: others become null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value
