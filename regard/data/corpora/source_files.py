"""The files that something is prepared from: how they were when it began, and whether they have changed since."""

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
    checksum: str = ""  # taken when it is about to be read; none in preparations of old


def input_of(name: str) -> InputFile:
    """The file that a recipe means by a name, as it is now."""
    path = file_of(name)
    try:
        about = path.stat()
    except OSError as error:
        raise Fault(f"There is no file {path} ({error.strerror}).") from None
    if not path.is_file():
        raise Fault(f"{path} is not a file; what is read several times must lie in one.")
    return InputFile(name=name, size=about.st_size, modified=about.st_mtime_ns)


def with_checksums(inputs: Sequence[InputFile]) -> list[InputFile]:
    """Return the inputs with the checksums of their files, which are read."""
    sums = file_checksums([file_of(each.name) for each in inputs])
    return [each.model_copy(update={"checksum": found}) for each, found in zip(inputs, sums, strict=True)]


def has_changed(before: InputFile | None, now: InputFile) -> bool:
    """Return True if a file's content changed; it is read only if its date did."""
    if before is None or before.modified == now.modified:
        return before is not None and before.size != now.size
    return before.size != now.size or before.checksum not in ("", file_checksum(file_of(now.name)))
