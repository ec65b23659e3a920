"""Input files of a preparation: their state when it began, and whether they have changed since."""

from collections.abc import Sequence

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
