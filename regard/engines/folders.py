"""Folders for other tools that are whole or not there."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from regard.faults import Fault


@contextmanager
def whole_folder(out: Path, mark: str) -> Iterator[Path]:
    """A folder to write into that appears at `out` when the block ends well; until then what was there stays.

    Only a folder that holds the file `mark`, and so is of the same kind, is replaced; a link to one stays a link.
    """
    if out.exists() and not out.is_dir():
        raise Fault(f"{out} is a file; name a folder.")
    if out.exists() and any(out.iterdir()) and not (out / mark).is_file():
        raise Fault(f"{out} holds other things (it has no {mark}) and is not replaced; choose another folder.")
    place = out.resolve()
    beside = place.with_name(f".{place.name}.partial")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        beside.mkdir(parents=True)
        yield beside
        if place.exists():
            shutil.rmtree(place)
        beside.rename(place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
