"""Files that are whole or not there: written beside their place, forced to disk, renamed."""

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

_FREE_SIZE, _TIMES_NEEDED = 2**26, 4  # bytes of a file beyond what it must hold
_LONGEST_NAME = 255  # bytes of the name of a file, as Linux has it
_OPEN_ANYWAY = 256  # files and sockets of torch, a server or a log


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Give an error of the system in this block the name of the file: once a file is open, such errors have none."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def refuse_missing_folder(path: Path) -> None:
    """Refuse to write a file into a folder that is not there; through a link, into the folder where it leads."""
    place = path.resolve() if path.is_symlink() else path
    if not place.parent.is_dir():
        raise Fault(f"There is no folder {place.parent} to write {place.name} into.")


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that appears at `path` when the block ends well; until then, and otherwise, what was there stays.

    Its place beside has a fixed name, so what a killed process left is overwritten the next time. A disk that is full
    or may not be written to is a fault that names `path`; errors of the block's own come through as they are. Into a
    device or a pipe, such as /dev/stdout, one writes directly: a file must not take its place.
    """
    refuse_missing_folder(path)
    if path.is_dir():
        raise Fault(f"{path} is a folder; name a file to write to.")
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    place = path.resolve()  # through a link, so that the link stays one
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
        with suppress(OSError):  # where nothing may be written, nothing may be removed either
            beside.unlink(missing_ok=True)


def write_file(path: Path, content: bytes) -> None:
    """Give a file this content in one step."""
    with whole_file(path) as file:
        file.write(content)


def checksum(content: bytes | bytearray) -> str:
    """The SHA-256 of a content, by which it is known again."""
    return hashlib.sha256(content).hexdigest()


def allow_open_files(count: int, user: str) -> None:
    """Let this process have so many files open beside the few that any has; `user` is what needs them, for a fault."""
    needed = count + _OPEN_ANYWAY
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise Fault(f"{user} needs {needed:,} open files, and this system allows {hard:,} (ulimit -Hn).")
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def read_regular_file(path: Path) -> bytes:
    """Read a file of a folder that need not be trusted: no link is followed, and no pipe is waited for.

    What is no regular file, or larger than the free memory, is an OSError like any other that keeps it from being read.
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
    """Return True if a name that a list gives, which need not be trusted, can be that of a file in its own folder."""
    if Path(name).name != name or not name.isprintable() or len(name.encode()) > _LONGEST_NAME:
        return False
    return not (folder / name).is_symlink()


def read_bounded(path: Path, most: int) -> bytes:
    """Read a file of at most so many bytes; a larger one is refused before it is read."""
    if not path.is_file():
        raise Fault(f"There is no {path}.")
    with naming(path), path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise Fault(f"{path} has {path.stat().st_size:,} bytes, more than any such file needs.")
    return content


def refuse_oversized(path: Path, needed: int) -> None:
    """Refuse a file that is far larger than what it must hold, before any of it is read."""
    if path.is_file() and (size := path.stat().st_size) > _FREE_SIZE + _TIMES_NEEDED * needed:
        raise Fault(f"{path} has {size:,} bytes, but what it should hold takes {needed:,}.")


def _free_memory() -> int:
    """Return the bytes that Linux says can still be had; where it says nothing, all that there are."""
    with suppress(OSError, StopIteration), Path("/proc/meminfo").open(encoding="ascii") as lines:
        return int(next(line for line in lines if line.startswith("MemAvailable:")).split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def finite(value: Any) -> Any:
    """Return a value for JSON, which has finite numbers only: others become null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value
