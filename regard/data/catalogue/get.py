"""Get a data set: missing files arrive in a folder beside it, are verified there, and are then moved into place.

Files that someone else wrote are never touched. `.regard.json` in the set's folder records what `get` wrote, so that a
later catalogue can replace it. Interrupted downloads wait in `.incoming` to be resumed.
"""

import errno
import fcntl
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from regard.base.faults import Fault
from regard.base.parsing import parse_json
from regard.base.progress import Progress
from regard.data.catalogue.entries import DataFile, Entry, find
from regard.data.catalogue.fetching import content_checksum, from_addresses, from_folder, remove
from regard.data.catalogue.unpack import Unusable, twins

_RECORD = ".regard.json"
_INCOMING = ".incoming"


def get(name: str, source: Path | None, progress: Progress) -> Path:
    """Get the missing files of a set, from the folder `source` or its public addresses, and return its folder."""
    entry = find(name)
    if missing := lacking(entry):
        bring = from_folder(entry, missing, source) if source else from_addresses(entry, missing)
        with _troubles_told(entry), _alone(entry), _incoming(entry) as incoming:
            arrived = [(file, bring(file, incoming, progress)) for file in missing]
            for file, place in arrived:
                _put_in_place(entry, file, place, incoming)
            shutil.rmtree(incoming)
    return entry.folder


def lacking(entry: Entry) -> list[DataFile]:
    """Return the files of a set that are missing here; files that are present are read and verified."""
    return [file for file in entry.files if not _is_here(entry, file)]


def unverified(entry: Entry) -> dict[str, str]:
    """Return the files without a checksum in the catalogue that were fetched, and the checksum each has."""
    record, checksums = _record(entry), dict[str, str]()
    for file in entry.files:
        for place in _places(entry, file):
            if not file.sha256 and _inside(entry, place) in record:
                checksums[file.path] = record[_inside(entry, place)]
    return checksums


def _is_here(entry: Entry, file: DataFile) -> bool:
    """Return True if a file is here with the right content; refuse other content unless we wrote it."""
    places = _places(entry, file)
    if not file.sha256:
        return bool(places)
    if any(_checksum_at(place, file) == file.sha256 for place in places):
        return True
    for place in places:
        _refuse_foreign(entry, file, place)
    return False


def _places(entry: Entry, file: DataFile) -> list[Path]:
    """Return everything where the file, packed or not, belongs; also broken links, since someone made them."""
    places = [entry.folder / twin for twin in twins(file.path)]
    return [place for place in places if place.is_symlink() or place.exists()]


def _checksum_at(place: Path, file: DataFile) -> str | None:
    """Return the checksum of the content at `place`, or None if it cannot be read."""
    try:
        return content_checksum(place, file, limit=sys.maxsize)
    except (Unusable, OSError):
        return None


def _refuse_foreign(entry: Entry, file: DataFile, place: Path) -> None:
    ours = _record(entry).get(_inside(entry, place))
    if ours is None or _checksum_at(place, file) != ours:
        raise Fault(
            f"{place} is not what the data catalogue describes: `regard data get` did not write it, or it was changed "
            f"since. It is left untouched; move it away and run `regard data get {entry.name}` again."
        )


def _inside(entry: Entry, place: Path) -> str:
    return place.relative_to(entry.folder).as_posix()


def _record(entry: Entry) -> dict[str, str]:
    """Read the record of what we wrote into the set's folder: paths and checksums."""
    try:
        record = parse_json((entry.folder / _RECORD).read_bytes(), _RECORD)
        return dict(record["written"])
    except (FileNotFoundError, Fault, ValueError, KeyError, TypeError):
        return {}  # without a readable record nothing is ours to replace


def _put_in_place(entry: Entry, file: DataFile, arrived: Path, incoming: Path) -> None:
    """Move an arrived file to its place, replacing only what we wrote there, and record it."""
    record = _record(entry)
    for old in _places(entry, file):
        _refuse_foreign(entry, file, old)
        remove(old)
        record.pop(_inside(entry, old))
    final = entry.folder / arrived.relative_to(incoming)
    final.parent.mkdir(parents=True, exist_ok=True)
    arrived.replace(final)
    record[_inside(entry, final)] = file.sha256 or content_checksum(final, file, limit=sys.maxsize)
    beside = incoming / _RECORD
    beside.write_text(json.dumps({"written": record}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(entry.folder / _RECORD)


@contextmanager
def _incoming(entry: Entry) -> Iterator[Path]:
    """Yield the folder in which files arrive; remove folders that stay empty."""
    incoming = entry.folder / _INCOMING
    incoming.mkdir(exist_ok=True)
    try:
        yield incoming
    finally:
        inner = sorted((path for path in incoming.rglob("*") if path.is_dir()), reverse=True)
        for folder in (*inner, incoming, entry.folder):
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def _alone(entry: Entry) -> Iterator[None]:
    """Hold the set's lock: two calls that fetch the same set would write into the same files."""
    entry.folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(entry.folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Fault(f"Another `regard data get {entry.name}` is running; wait for it to finish.") from None
        yield
    finally:
        os.close(handle)


@contextmanager
def _troubles_told(entry: Entry) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Fault(
                f"There is no space left in {entry.folder} for {entry.name}; free some and run the same "
                "command again to continue."
            ) from None
        raise Fault(
            f"{entry.name} cannot be stored in {entry.folder} ({error.filename}: {error.strerror}); set "
            "REGARD_DATA to another folder."
        ) from None
