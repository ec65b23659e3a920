"""Input files of a preparation: their state when it began, and whether they have changed since."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from regard.base.checksums import file_checksum, file_checksums
from regard.base.faults import Fault
from regard.data.corpora.text import file_of


class InputFile(BaseModel):
    """A file as it was when the preparation began."""

    name: str
    size: int
    modified: int
    checksum: str = ""  # computed just before reading; empty in older preparations


def input_of(name: str) -> InputFile:
    """Return the current state of the file that a recipe names."""
    path = file_of(name)
    try:
        about = path.stat()
    except OSError as error:
        raise Fault(f"There is no file {path} ({error.strerror}).") from None
    if not path.is_file():
        raise Fault(f"{path} is not a regular file; data that is read several times must be one.")
    return InputFile(name=name, size=about.st_size, modified=about.st_mtime_ns)


def with_checksums(inputs: Sequence[InputFile]) -> list[InputFile]:
    """Read the input files and return them with their checksums."""
    sums = file_checksums([file_of(input_file.name) for input_file in inputs])
    return [input_file.model_copy(update={"checksum": digest}) for input_file, digest in zip(inputs, sums, strict=True)]


def has_changed(before: InputFile | None, now: InputFile) -> bool:
    """Return True if a file's content changed; it is read only if its date did."""
    if before is None or before.modified == now.modified:
        return before is not None and before.size != now.size
    return before.size != now.size or before.checksum not in ("", file_checksum(file_of(now.name)))


def changed_files(before: Sequence[InputFile], now: Sequence[InputFile]) -> list[str]:
    """Return the names of the files whose content changed; files that are gone cannot have changed."""
    known = {input_file.name: input_file for input_file in before}
    return [input_file.name for input_file in now if has_changed(known.get(input_file.name), input_file)]


def refuse_other_sources(folder: Path, what: str, others: Sequence[str], files: Sequence[str]) -> None:
    """Refuse a folder that was prepared differently, as `others` say, or from `files` that have changed since."""
    if others:
        differences = "; ".join([*others, *(f"the file {name} has changed" for name in files)])
        raise Fault(
            f"{folder} holds {what} prepared from something else: {differences}. "
            "Name another folder as data.prepared, or delete this one."
        )
    if files:
        raise Fault(
            f"The file {files[0]} has changed since {folder} was prepared from it. Put it back as it was, or move it "
            "away to continue with what was prepared; to learn from it as it is now, begin another run."
        )
