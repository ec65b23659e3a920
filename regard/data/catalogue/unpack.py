"""Contents of packed files: streams, checksums, and archives opened without trusting them.

A checksum is always of the content: of the plain bytes of a file, however it is compressed, and of the files of a
folder, whether it lies unpacked or in a tar or zip archive. That of a folder is what this prints in it:
`find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum`.
"""

import bz2
import errno
import gzip
import hashlib
import io
import lzma
import os
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path, PurePosixPath
from typing import IO, cast

from regard.data.catalogue.zstandard import open_zstandard

_PACKINGS = (".tar.gz", ".tar.xz", ".tar", ".zip", ".gz", ".xz", ".zst")
_CHUNK = 1 << 20
_MOST_MEMBERS = 100_000
_MOST_PLACES = 250_000  # files of a tar whose places are remembered
_MOST_HEADERS = 1 << 16  # bytes that describe one member of a tar; the longest path is a sixteenth of it
_MOST_LISTED = 1 << 24  # bytes of the list at the end of a zip

# What a file may unpack to: text and arrays become a twentieth of their size at best, and only what is made to do harm
# becomes a thousandth.
_FREE_UNPACKED, _TIMES_UNPACKED = 1 << 25, 50
_FREE_HELD, _TIMES_HELD = 1 << 24, 8  # of what is held in memory as a whole

_Member = tuple[str, int, IO[bytes]]  # its path, its size, its content


class Unusable(Exception):
    """Why a file or an archive cannot be used, as the end of a sentence that begins with its name."""


def packing(name: str) -> str:
    """Return how a file is packed, by its name: `.gz`, `.tar.xz`, or nothing."""
    return next((suffix for suffix in _PACKINGS if name.endswith(suffix)), "")


def bare(name: str) -> str:
    """A file's name without its packing."""
    return name.removesuffix(packing(name))


def twins(name: str) -> list[str]:
    """The names under which the same content may lie: this one, the plain one, the other packings."""
    plain = bare(name)
    return list(dict.fromkeys([name, plain, *(plain + suffix for suffix in _PACKINGS)]))


def leads_out(name: str) -> bool:
    """Return True if a path could lead out of the folder it is relative to, or names none inside it."""
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name


def open_content(path: Path) -> BufferedIOBase:
    """Open a file's plain content as a stream, packed or not; one that unpacks to far too much ends in an EOFError."""
    match packing(path.name):
        case ".gz":
            return _within_reason(gzip.open(path), path)
        case ".xz":
            return _within_reason(lzma.open(path), path)
        case ".zst":
            return _within_reason(open_zstandard(path), path)
    return path.open("rb")


def read_content(path: Path, most: int | None = None) -> bytes:
    """Read a file's plain content into memory; one of more than `most` bytes, or than is plausible, is `Unusable`."""
    if most is None:
        packed = path.stat().st_size
        most = most_held(packed) if packing(path.name) else packed
    with naming_damage(), open_content(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise Unusable(f"holds more than {most:,} bytes, which is far too much")
    return content


def most_held(packed: int) -> int:
    """Return the most bytes that something of this packed size may have when it is unpacked into memory."""
    return _FREE_HELD + _TIMES_HELD * packed


def _within_reason(stream: BufferedIOBase, path: Path) -> BufferedIOBase:
    packed = path.stat().st_size
    return io.BufferedReader(_Bounded(stream, max(_FREE_UNPACKED, _TIMES_UNPACKED * packed)), _CHUNK)


class _Bounded(io.RawIOBase):
    """A stream that raises an EOFError, as damaged ones do, where more than so many bytes come out of it."""

    def __init__(self, stream: BufferedIOBase, most: int) -> None:
        self._stream, self._most, self._place = stream, most, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._place = self._stream.seek(offset, whence)
        self._check()
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # no other buffer comes from BufferedReader
        count = self._stream.readinto(buffer)
        self._place += count
        self._check()
        return count

    def _check(self) -> None:
        if self._place > self._most:
            raise EOFError(f"it unpacks to more than {self._most:,} bytes; unpack it first if you trust it")

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Frugal(BufferedIOBase):
    """A stream that gives no more bytes than are allowed, where `allowed` is a number.

    Python's readers of archives ask for a header, or a list of members, in one piece of whatever size it claims to
    have, and a few thousand bytes unpack to gigabytes.
    """

    def __init__(self, stream: BufferedIOBase, allowed: int) -> None:
        self.stream = stream
        self.allowed: int | None = allowed

    def read(self, size: int | None = -1, /) -> bytes:
        if self.allowed is None:
            return self.stream.read(size)
        piece = self.stream.read(self.allowed + 1 if size is None or size < 0 else min(size, self.allowed + 1))
        self.allowed -= len(piece)
        if self.allowed < 0:
            raise Unusable("is not plausible: what describes its members is larger than it may be")
        return piece

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return self.stream.seek(offset, whence)

    def tell(self) -> int:
        return self.stream.tell()

    def seekable(self) -> bool:
        return True


@contextmanager
def naming_damage() -> Iterator[None]:
    """Make of what readers of archives raise in this block an `Unusable` that says what is wrong."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile) as error:
        raise Unusable(f"is damaged ({error})") from None
    except (RuntimeError, MemoryError) as error:  # a password, an unknown method, headers nested without end
        raise Unusable(f"cannot be unpacked ({error})") from None
    except (ValueError, OverflowError, struct.error, LookupError) as error:  # numbers in headers that are none
        raise Unusable(f"is damaged ({error})") from None
    except OSError as error:  # a place in a header that is none; what the system refuses has a file's name or a cause
        if error.filename is not None or error.errno not in (None, errno.EINVAL):
            raise
        raise Unusable(f"is damaged ({error.strerror or error})") from None


def checksum(path: Path, limit: int) -> str:
    """The checksum of a file's content; a content of more than `limit` bytes is refused, not read to its end."""
    digest, size = hashlib.sha256(), 0
    with naming_damage(), open_content(path) as stream:
        while piece := stream.read(_CHUNK):
            size += len(piece)
            if size > limit:
                raise Unusable(f"holds more than the {limit:,} bytes expected")
            digest.update(piece)
    return digest.hexdigest()


def folder_checksum(path: Path, limit: int) -> str:
    """The checksum of a folder's content, be it unpacked or an archive; `limit` as for `unpack`."""
    lines = []
    with naming_damage():
        for name, stream in archive_members(path, limit):
            digest = hashlib.sha256()
            while piece := stream.read(_CHUNK):
                digest.update(piece)
            lines.append((os.fsencode(name), digest.hexdigest().encode()))
    whole = b"".join(inner + b"  " + name + b"\n" for name, inner in sorted(lines))
    return hashlib.sha256(whole).hexdigest()


def unpack(path: Path, target: Path, limit: int) -> None:
    """Write what an archive holds, or copies of a folder's files, under the new folder `target`.

    An archive may hold the folder anywhere, as those of whole repositories do: what counts lies below the folder
    that has the archive's own name. Every member is examined all the same, and one that is a link or a device, or
    leads out of its folder, or makes the whole larger than `limit`, spoils the archive.
    """
    target.mkdir(parents=True)
    with naming_damage():
        for name, stream in archive_members(path, limit):
            place = target / name
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("xb") as file:
                    shutil.copyfileobj(stream, file, _CHUNK)
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                raise Unusable(f"holds {name!r} twice") from None


def archive_members(path: Path, limit: int) -> Iterator[tuple[str, IO[bytes]]]:
    """The files of a folder or archive: each path and its content, to be read before the next is asked for."""
    total = count = 0
    name = bare(path.name)
    for inner, size, stream in _folder(path) if path.is_dir() else _archive(path):
        total, count = total + size, count + 1
        if total > limit or count > _MOST_MEMBERS:
            raise Unusable(f"holds more than the {limit:,} bytes or {_MOST_MEMBERS:,} files it may")
        if path.is_dir():
            yield inner, stream
        elif name in (parts := PurePosixPath(inner).parts)[:-1]:
            yield "/".join(parts[parts.index(name) + 1 :]), stream


def _folder(path: Path) -> Iterator[_Member]:
    for inner in sorted(path.rglob("*")):
        if inner.is_symlink() or not (inner.is_file() or inner.is_dir()):
            raise Unusable(f"holds {inner.name!r}, which is neither a file nor a folder")
        if inner.is_file():
            with inner.open("rb") as stream:
                yield inner.relative_to(path).as_posix(), inner.stat().st_size, stream


def _archive(path: Path) -> Iterator[_Member]:
    return _zip(path) if zipfile.is_zipfile(path) else _tar(path)


def _tar(path: Path) -> Iterator[_Member]:
    with _open_unpacked(path) as plain:
        for archive, member in _tar_members(plain):
            _refuse_danger(member.name, member.isreg() and not member.issparse(), member.isdir())
            if member.isreg() and (stream := archive.extractfile(member)):
                with stream:
                    yield member.name, member.size, stream


def _tar_members(plain: BufferedIOBase) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield the members of a tar archive; what describes each is bounded, and its content is free to be read."""
    frugal = _Frugal(plain, _MOST_HEADERS)
    with tarfile.open(fileobj=cast("IO[bytes]", frugal), mode="r:") as archive:
        while member := archive.next():
            archive.members.clear()  # type: ignore[attr-defined]  # it would remember every one, with all headers
            frugal.allowed = None  # content is read in pieces
            yield archive, member
            frugal.allowed = _MOST_HEADERS


def tar_places(path: Path) -> dict[str, tuple[int, int]]:
    """Return where the content of each file of a tar archive begins when it is unpacked, and how many bytes it has."""
    places = {}
    with naming_damage(), _open_unpacked(path) as plain:
        for _, member in _tar_members(plain):
            if member.isreg() and not member.issparse():
                places[member.name] = (member.offset_data, member.size)
            if len(places) > _MOST_PLACES:
                raise Unusable(f"holds more than {_MOST_PLACES:,} files")
    return places


def read_place(path: Path, start: int, size: int) -> bytes:
    """Read so many bytes of an archive from this place on, as it is when it is unpacked."""
    with naming_damage(), _open_unpacked(path) as plain:
        plain.seek(start)
        content = plain.read(size)
    if len(content) < size:
        raise Unusable("is not whole")
    return content


def _open_unpacked(path: Path) -> BufferedIOBase:
    """Open the content of a file by its first bytes, since an archive may have lost its name."""
    with path.open("rb") as file:
        start = file.read(6)
    if start.startswith(b"\x1f\x8b"):
        return gzip.open(path)
    if start.startswith(b"BZh"):
        return bz2.open(path)
    return lzma.open(path) if start == b"\xfd7zXZ\0" else path.open("rb")


def open_zip(stream: BufferedIOBase) -> zipfile.ZipFile:
    """A zip archive; one whose list of members is larger than it may be is `Unusable`."""
    frugal = _Frugal(stream, _MOST_LISTED)
    archive = zipfile.ZipFile(frugal)
    frugal.allowed = None
    return archive


def zip_contents(stream: BufferedIOBase, names: Iterable[str] | None = None) -> dict[str, bytes]:
    """Read these members of a zip archive (or all) into memory, by their names; a name that is missing is left out.

    An archive is `Unusable` that is damaged, packed by anything but deflate, or unpacks to more than is plausible.
    """
    packed = stream.seek(0, os.SEEK_END)
    with naming_damage(), open_zip(stream) as archive:
        wanted = set(archive.namelist() if names is None else names)
        members = [member for member in archive.infolist() if member.filename in wanted]
        if sum(member.file_size for member in members) > most_held(packed):
            raise Unusable(f"unpacks to far more than its {packed:,} bytes make plausible")
        for member in members:
            _refuse_packing(member)
        return {member.filename: archive.read(member) for member in members}


def _refuse_packing(member: zipfile.ZipInfo) -> None:
    """Refuse methods by which a few bytes become gigabytes before anyone can count them."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unusable(f"holds {member.filename!r}, packed by a method that is not known to be safe")


def _zip(path: Path) -> Iterator[_Member]:
    with path.open("rb") as plain, open_zip(plain) as archive:
        for member in archive.infolist():
            _refuse_packing(member)
            # Archives made on other systems carry no kind; those are plain files.
            kind = stat.S_IFMT(member.external_attr >> 16)
            _refuse_danger(member.filename, kind in (0, stat.S_IFREG), member.is_dir())
            if not member.is_dir():
                with archive.open(member) as stream:
                    yield member.filename, member.file_size, stream


def _refuse_danger(name: str, is_file: bool, is_folder: bool) -> None:
    if not (is_file or is_folder):
        raise Unusable(f"holds {name!r}, which is a link or a device")
    # The archive's own folder is often a member called "."; it leads nowhere, so something inside it is asked about.
    if leads_out(f"{name}/inside" if is_folder else name):
        raise Unusable(f"holds {name!r}, which leads out of its folder")
