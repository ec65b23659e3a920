"""Folders for other tools that are whole or not there."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from regard.faults import Fault


@contextmanager
def whole_folder(out: Path, mark: str) -> Iterator[Path]:
    """A folder to write into that appears at `out` when the block ends well; until then what was there stays.

    Only a folder that holds the file `mark`, and so is of the same kind, is replaced.
    """
    if out.exists() and not out.is_dir():
        raise Fault(f"{out} is a file; name a folder.")
    if out.exists() and any(out.iterdir()) and not (out / mark).is_file():
        raise Fault(f"{out} holds other things (it has no {mark}) and is not replaced; choose another folder.")
    beside = out.absolute().with_name(f".{out.absolute().name}.partial")
    shutil.rmtree(beside, ignore_errors=True)
    try:
        beside.mkdir(parents=True)
        yield beside
        if out.exists():
            shutil.rmtree(out)
        beside.rename(out)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
