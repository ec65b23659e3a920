"""Open packed files and archives without trusting them: streams, checksums and members.

A checksum is always that of the content: the plain bytes of a file, however it is compressed, or the files of a folder,
unpacked or in a tar or zip archive. The checksum of a folder is what this prints in it: `find . -type f -printf '%P\\0'
| LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum`.
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
_MOST_PLACES = 250_000  # most files of a tar to index
_MOST_HEADERS = 1 << 16  # bytes of headers for one member of a tar; the longest path is a sixteenth of it
_MOST_LISTED = 1 << 24  # bytes of the central directory of a zip

# Limits on unpacking: text and arrays compress to a twentieth of their size at best; only a hostile file reaches a
# thousandth.
_FREE_UNPACKED, _TIMES_UNPACKED = 1 << 25, 50
_FREE_HELD, _TIMES_HELD = 1 << 24, 8  # for content held in memory as a whole

_Member = tuple[str, int, IO[bytes]]  # path, size, content


class Unusable(Exception):
    """The reason why a file or archive cannot be used, as the end of a sentence that begins with its name."""


def packing(name: str) -> str:
    """Return a file's packing by its name: `.gz`, `.tar.xz`, or an empty string."""
    return next((suffix for suffix in _PACKINGS if name.endswith(suffix)), "")


def bare(name: str) -> str:
    """Return a file's name without its packing."""
    return name.removesuffix(packing(name))


def twins(name: str) -> list[str]:
    """Return the names under which the same content may lie: this one, the plain one, the other packings."""
    plain = bare(name)
    return list(dict.fromkeys([name, plain, *(plain + suffix for suffix in _PACKINGS)]))


def leads_out(name: str) -> bool:
    """Return True if a path could lead out of its base folder, or is empty."""
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name


def open_content(path: Path) -> BufferedIOBase:
    """Open a file's plain content as a stream, packed or not; reading raises EOFError if it unpacks to too much."""
    match packing(path.name):
        case ".gz":
            return _within_reason(gzip.open(path), path)
        case ".xz":
            return _within_reason(lzma.open(path), path)
        case ".zst":
            return _within_reason(open_zstandard(path), path)
    return path.open("rb")


def read_content(path: Path, most: int | None = None) -> bytes:
    """Read a file's plain content; raise Unusable if it has more than `most`, or implausibly many, bytes."""
    if most is None:
        packed = path.stat().st_size
        most = most_held(packed) if packing(path.name) else packed
    with naming_damage(), open_content(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise Unusable(f"holds more than {most:,} bytes, which is too much")
    return content


def most_held(packed: int) -> int:
    """Return the most bytes that a file of this packed size may unpack to in memory."""
    return _FREE_HELD + _TIMES_HELD * packed


def _within_reason(stream: BufferedIOBase, path: Path) -> BufferedIOBase:
    packed = path.stat().st_size
    return io.BufferedReader(_Bounded(stream, max(_FREE_UNPACKED, _TIMES_UNPACKED * packed)), _CHUNK)


class _Bounded(io.RawIOBase):
    """A stream that raises EOFError, as damaged ones do, after more than `most` bytes."""

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

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # BufferedReader passes no other type
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
    """A stream that returns at most `allowed` bytes, or any number if that is None.

    Python's archive readers request a header or a list of members in one piece of whatever size it claims, and a few
    thousand bytes can unpack to gigabytes.
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
            raise Unusable("is not plausible: the description of its members is too large")
        return piece

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return self.stream.seek(offset, whence)

    def tell(self) -> int:
        return self.stream.tell()

    def seekable(self) -> bool:
        return True


@contextmanager
def naming_damage() -> Iterator[None]:
    """Turn the errors of archive readers inside this block into an `Unusable` that says what is wrong."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile) as error:
        raise Unusable(f"is damaged ({error})") from None
    except (RuntimeError, MemoryError) as error:  # a password, an unknown method, endless nested headers
        raise Unusable(f"cannot be unpacked ({error})") from None
    except (ValueError, OverflowError, struct.error, LookupError) as error:  # invalid numbers in headers
        raise Unusable(f"is damaged ({error})") from None
    except OSError as error:  # an invalid offset in a header; errors of the system have a file name or errno
        if error.filename is not None or error.errno not in (None, errno.EINVAL):
            raise
        raise Unusable(f"is damaged ({error.strerror or error})") from None


def checksum(path: Path, limit: int) -> str:
    """Return the checksum of a file's content; refuse content of more than `limit` bytes without reading it all."""
    digest, size = hashlib.sha256(), 0
    with naming_damage(), open_content(path) as stream:
        while piece := stream.read(_CHUNK):
            size += len(piece)
            if size > limit:
                raise Unusable(f"holds more than the {limit:,} bytes expected")
            digest.update(piece)
    return digest.hexdigest()


def folder_checksum(path: Path, limit: int) -> str:
    """Return the checksum of a folder's content, unpacked or in an archive; `limit` as for `unpack`."""
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
    """Write the content of an archive, or copies of a folder's files, into the new folder `target`.

    An archive may hold the folder at any depth, as archives of whole repositories do: only members below the folder
    with the archive's own name are written. Every member is still examined; a link, a device, a path that leads out, or
    a total above `limit` makes the archive unusable.
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
    """Yield the files of a folder or archive: path and content, which must be read before the next one."""
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
    """Yield the members of a tar archive; limit the size of headers but not of content."""
    frugal = _Frugal(plain, _MOST_HEADERS)
    with tarfile.open(fileobj=cast("IO[bytes]", frugal), mode="r:") as archive:
        while member := archive.next():
            archive.members.clear()  # type: ignore[attr-defined]  # it would keep every member with all headers
            frugal.allowed = None  # content is unlimited, as it is read in pieces
            yield archive, member
            frugal.allowed = _MOST_HEADERS


def tar_places(path: Path) -> dict[str, tuple[int, int]]:
    """Return the offset in the unpacked tar and the size of each file's content."""
    places = {}
    with naming_damage(), _open_unpacked(path) as plain:
        for _, member in _tar_members(plain):
            if member.isreg() and not member.issparse():
                places[member.name] = (member.offset_data, member.size)
            if len(places) > _MOST_PLACES:
                raise Unusable(f"holds more than {_MOST_PLACES:,} files")
    return places


def read_place(path: Path, start: int, size: int) -> bytes:
    """Read `size` bytes of an archive at the offset `start` of its unpacked content."""
    with naming_damage(), _open_unpacked(path) as plain:
        plain.seek(start)
        content = plain.read(size)
    if len(content) < size:
        raise Unusable("is incomplete")
    return content


def _open_unpacked(path: Path) -> BufferedIOBase:
    """Open a file's content by its first bytes, since an archive may have lost its suffix."""
    with path.open("rb") as file:
        start = file.read(6)
    if start.startswith(b"\x1f\x8b"):
        return gzip.open(path)
    if start.startswith(b"BZh"):
        return bz2.open(path)
    return lzma.open(path) if start == b"\xfd7zXZ\0" else path.open("rb")


def open_zip(stream: BufferedIOBase) -> zipfile.ZipFile:
    """Open a zip archive; raise Unusable if its list of members is too large."""
    frugal = _Frugal(stream, _MOST_LISTED)
    archive = zipfile.ZipFile(frugal)
    frugal.allowed = None
    return archive


def zip_contents(stream: BufferedIOBase, names: Iterable[str] | None = None) -> dict[str, bytes]:
    """Read the named members of a zip archive (or all) into memory; missing names are left out.

    Raise Unusable if the archive is damaged, uses any compression but deflate, or unpacks to implausibly many bytes.
    """
    packed = stream.seek(0, os.SEEK_END)
    with naming_damage(), open_zip(stream) as archive:
        wanted_names = set(archive.namelist() if names is None else names)
        members = [member for member in archive.infolist() if member.filename in wanted_names]
        if sum(member.file_size for member in members) > most_held(packed):
            raise Unusable(f"unpacks to implausibly many bytes for its size of {packed:,} bytes")
        for member in members:
            _refuse_packing(member)
        return {member.filename: archive.read(member) for member in members}


def _refuse_packing(member: zipfile.ZipInfo) -> None:
    """Refuse compression methods that can turn a few bytes into gigabytes before anyone can count them."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unusable(f"holds {member.filename!r}, packed by a method that may not be safe")


def _zip(path: Path) -> Iterator[_Member]:
    with path.open("rb") as plain, open_zip(plain) as archive:
        for member in archive.infolist():
            _refuse_packing(member)
            # Archives made on other systems record no file type; treat those members as plain files.
            kind = stat.S_IFMT(member.external_attr >> 16)
            _refuse_danger(member.filename, kind in (0, stat.S_IFREG), member.is_dir())
            if not member.is_dir():
                with archive.open(member) as stream:
                    yield member.filename, member.file_size, stream


def _refuse_danger(name: str, is_file: bool, is_folder: bool) -> None:
    if not (is_file or is_folder):
        raise Unusable(f"holds {name!r}, which is a link or a device")
    # The archive's own folder is often a member called "."; it leads nowhere, so check a path inside it.
    if leads_out(f"{name}/inside" if is_folder else name):
        raise Unusable(f"holds {name!r}, which leads out of its folder")
