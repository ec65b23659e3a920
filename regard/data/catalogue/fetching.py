"""Fetch a data set's files: download them, make them from public parts, or copy them from a folder; always verified.

Files arrive in a separate folder, `incoming`, under the paths they will have in the set's folder.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from regard.base.faults import Fault
from regard.base.progress import Progress
from regard.data.catalogue.conversions import make_from_archives
from regard.data.catalogue.download import DownloadFailed, download
from regard.data.catalogue.entries import DataFile, Entry, FilePart, lies_at
from regard.data.catalogue.unpack import Unusable, bare, checksum, folder_checksum, open_content, packing, unpack

_CHUNK = 1 << 20

Bring = Callable[[DataFile, Path, Progress], Path]


def from_addresses(entry: Entry, missing: Sequence[DataFile]) -> Bring:
    """Return a function that downloads the missing files of a set; refuse at once if some are not public."""
    if unpublished := [file for file in missing if not file.is_public]:
        raise Fault(
            f"{_some(unpublished)} of {entry.name} cannot be downloaded, because no public address has it "
            f"(how it was made: {unpublished[0].derived}): {entry.wanting()}"
        )
    return partial(_fetch, entry)


def from_folder(entry: Entry, missing: Sequence[DataFile], source: Path) -> Bring:
    """Return a function that copies the missing files of a set from `source`: the set's folder or its parent."""
    if not source.is_dir():
        raise Fault(f"--from {source} is not a folder; name one that holds the files of {entry.name}.")
    roots = [*(source / name for name in (entry.name, *entry.aliases)), source]
    origins = {file.path: place for file in missing if (place := _first(roots, file))}
    if absent := [file for file in missing if file.path not in origins]:
        raise Fault(
            f"{_some(absent)} of {entry.name} is not in {source}; give --from the folder that holds the set's files "
            "under the names that `regard data list --json` gives, packed or not, or its parent."
        )
    return partial(_copy, entry, origins)


def content_checksum(place: Path, file: DataFile | FilePart, limit: int) -> str:
    """Return the checksum of a file, computed as the catalogue does."""
    if isinstance(file, DataFile) and file.folder:
        return folder_checksum(place, limit)
    return checksum(place, limit)


def remove(place: Path) -> None:
    """Remove a file or folder if it exists."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _some(files: Sequence[DataFile]) -> str:
    """Return the names of a few files, and how many more there are."""
    named = ", ".join(file.path for file in files[:3])
    return named if len(files) <= 3 else f"{named} and {len(files) - 3} more"


def _first(roots: Sequence[Path], file: DataFile) -> Path | None:
    places = (lies_at(root, file.path, file.folder) for root in roots)
    return next(filter(None, places), None)


def _most(file: DataFile | FilePart) -> int:
    """Return the most bytes to accept for a file: packing adds little, and a repository's archive holds a bit more."""
    return 2 * file.size + (1 << 20)


def _fetch(entry: Entry, file: DataFile, incoming: Path, progress: Progress) -> Path:
    place = incoming / bare(file.path)
    if file.address is None:
        return _make(entry, file, incoming, progress)
    packed = place.with_name(place.name + packing(file.address))
    if not file.folder:
        return _fetch_verified(entry, file, packed, progress)
    _download(entry, file, packed, progress)
    try:
        return _unpack(entry, file, packed, place, file.address)
    finally:
        packed.unlink()


def _make(entry: Entry, file: DataFile, incoming: Path, progress: Progress) -> Path:
    """Make a derived file from its public parts."""

    def fetch_part(part: FilePart) -> Path:
        return _fetch_verified(entry, part, incoming / "parts" / part.address.rpartition("/")[2], progress)

    place = incoming / bare(file.path)
    place.parent.mkdir(parents=True, exist_ok=True)
    parts = [fetch_part(part) for part in file.parts]
    if file.conversion:
        make_from_archives(parts, file.members, file.conversion, place)
    else:
        join_pairs(parts, fetch_part(file.unseen_in) if file.unseen_in else None, place)
    return _verify_arrival(entry, file, place, "The file made from the public parts")


def _fetch_verified(entry: Entry, file: DataFile | FilePart, place: Path, progress: Progress) -> Path:
    if not _arrived_before(file, place):
        _download(entry, file, place, progress)
    return _verify_arrival(entry, file, place, str(file.address))


def _arrived_before(file: DataFile | FilePart, place: Path) -> bool:
    """Return True if an earlier, interrupted call already brought the whole file."""
    with suppress(Unusable, FileNotFoundError):
        return content_checksum(place, file, _most(file)) == file.sha256
    return False


def _download(entry: Entry, file: DataFile | FilePart, place: Path, progress: Progress) -> None:
    part = place.with_name(f"{place.name}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        download(str(file.address), part, _most(file), partial(progress, _label(entry, place)))
    except DownloadFailed as failure:
        raise Fault(f"The data set {entry.name} could not be downloaded: {failure}; {entry.wanting()}") from None
    part.replace(place)


def _label(entry: Entry, place: Path) -> str:
    return f"{entry.name}: bytes of {place.name}"


def _copy(entry: Entry, origins: dict[str, Path], file: DataFile, incoming: Path, progress: Progress) -> Path:
    origin, place = origins[file.path], incoming / bare(file.path)
    if file.folder:
        return _unpack(entry, file, origin, place, str(origin))
    place = place.with_name(place.name + packing(origin.name))
    place.parent.mkdir(parents=True, exist_ok=True)
    done, whole = 0, origin.stat().st_size
    with origin.open("rb") as old, place.open("wb") as new:
        while piece := old.read(_CHUNK):
            done += new.write(piece)
            progress(_label(entry, place), done, whole)
    return _verify_arrival(entry, file, place, str(origin))


def _unpack(entry: Entry, file: DataFile, archive: Path, place: Path, origin: str) -> Path:
    """Write the content of an archive or folder, after reading and verifying all of it."""
    remove(place)  # left by an earlier, interrupted call
    _verify(entry, file, archive, origin)
    try:
        unpack(archive, place, _most(file))
    except Unusable as reason:
        remove(place)
        raise Fault(f"{origin} cannot be used for {entry.name}: it {reason}; {entry.wanting()}") from None
    return _verify_arrival(entry, file, place, origin)


def _verify_arrival(entry: Entry, file: DataFile | FilePart, place: Path, origin: str) -> Path:
    """Return `place` if its content matches the catalogue; otherwise remove it and raise a fault."""
    try:
        _verify(entry, file, place, origin)
    except Fault:
        remove(place)
        raise
    return place


def _verify(entry: Entry, file: DataFile | FilePart, place: Path, origin: str) -> None:
    """Refuse content that does not match the catalogue."""
    try:
        actual = content_checksum(place, file, _most(file))
    except Unusable as reason:
        raise Fault(f"{origin} cannot be used for {entry.name}: it {reason}; {entry.wanting()}") from None
    if file.sha256 and actual != file.sha256:
        raise Fault(
            f"{origin} is not what the data catalogue promises: the content of {place.name} has the checksum "
            f"{actual}, expected {file.sha256} (sha256). Nothing of it is kept; {entry.wanting()}"
        )


Pair = tuple[bytes, bytes]


def join_pairs(parts: Sequence[Path], unseen_in: Path | None, target: Path) -> None:
    """Write the pairs of `parts` in order as two columns, each pair where it first occurs.

    A part has four columns: two languages, then a sentence in each. A pair is left out if its first sentence is a first
    sentence of `unseen_in`, or its second a second one, byte for byte.
    """
    hidden = list(_pairs(unseen_in)) if unseen_in else []
    first_hidden, second_hidden = {first for first, _ in hidden}, {second for _, second in hidden}
    seen: set[Pair] = set()
    with target.open("wb") as file:
        for pair in (pair for part in parts for pair in _pairs(part)):
            if pair not in seen and pair[0] not in first_hidden and pair[1] not in second_hidden:
                seen.add(pair)
                file.write(b"\t".join(pair) + b"\n")


def _pairs(path: Path) -> Iterator[Pair]:
    with open_content(path) as lines:
        for line in lines:
            _, _, first, second = line.rstrip(b"\n").split(b"\t")
            yield first, second
