"""Helpers for preparing data: a record written last, arrays and files with checksums, held-out examples.

A folder without its record, or with a record of other options, is prepared again.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError

from regard.base.checksums import check_files, file_checksum, read_record, write_record
from regard.base.faults import Fault
from regard.base.files import checksum, whole_file, write_file
from regard.data.corpora.text import file_of
from regard.data.holding_out import SEED

SPLITS = ("train", "valid", "test")
FINISHED = "finished.json"

Kept = TypeVar("Kept", bound=BaseModel)


class FinishedRecord(BaseModel):
    """Record of a preparation; each subclass has the checksums of its `files`, in the order of its own fields."""

    if TYPE_CHECKING:
        files: dict[str, str]


Record = TypeVar("Record", bound=FinishedRecord)


def prepare_once(
    kind: type[Record],
    folder: Path,
    is_current: Callable[[Record], bool],
    prepare: Callable[[], Record],
    name: str = FINISHED,
) -> Record:
    """Return the record of the data in `folder`, preparing it first unless its record is current."""
    record = folder / name
    if not record.is_file() or not is_current(read_record(kind, record)):
        make_folder(folder)
        record.unlink(missing_ok=True)
        write_record(record, prepare())
    finished = read_record(kind, record)
    check_files(folder, finished.files)
    return finished


def make_folder(folder: Path) -> None:
    """Make a folder and its parents."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Fault(f"The folder {folder} cannot be created: {error.strerror}.") from None


def is_finished(folder: Path | None) -> bool:
    """Return True if the folder holds prepared data."""
    return folder is not None and (folder / FINISHED).is_file()


def refuse_missing(names: Iterable[str], folder: Path | None, may_be_folders: bool = False) -> None:
    """Refuse data with a missing file, unless it lies prepared in `folder`."""
    if is_finished(folder):
        return
    for name in names:
        path = file_of(name)
        if not (path.exists() if may_be_folders else path.is_file()):
            raise Fault(f"There is no file {name}.")


def save_arrays(folder: Path, arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Write arrays to files of these names and return their checksums."""
    for name, array in arrays.items():
        with whole_file(folder / name) as file:
            np.save(file, array, allow_pickle=False)
    return {name: file_checksum(folder / name) for name in arrays}


def save_files(folder: Path, files: Mapping[str, bytes]) -> dict[str, str]:
    """Write files with these contents and return their checksums."""
    for name, content in files.items():
        write_file(folder / name, content)
    return {name: checksum(content) for name, content in files.items()}


def open_arrays(folder: Path, *names: str) -> list[np.ndarray]:
    """Memory-map the arrays in files of these names."""
    return [np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in names]


def open_kept(kind: type[Kept], files: Mapping[str, bytes], name: str) -> Kept:
    """Read what an untrusted file of a model folder stores about the data."""
    try:
        return kind.model_validate_json(files[name])
    except (KeyError, ValidationError):
        raise damaged(name) from None


def damaged(name: str) -> Fault:
    """Return the Fault for a missing or damaged file of a model folder."""
    return Fault(f"{name} of the model folder is missing or damaged.")


def draw_held_out(total: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of training examples and of held-out ones; the draw is always the same."""
    order = np.random.default_rng(SEED).permutation(total)
    return np.sort(order[count:]), np.sort(order[:count])
