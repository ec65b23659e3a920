"""Pictures of any size: scaled to fit a model, with a remark, or read unchanged."""

from collections.abc import Iterable, Iterator
from typing import Any

from regard.base.faults import Fault
from regard.base.progress import Remark
from regard.data.pictures.fitting import AsIs
from regard.protocols.pictures import FitsPictures

MOST_REMARKS = 3  # on single pictures; further ones are only counted


def mark_as_is(task: Any, files: Iterable[Any], option: str = "as_is") -> list[AsIs]:
    """Mark picture files to be read unchanged."""
    refuse_as_is(task, option)
    return [AsIs(file) for file in files]


def refuse_as_is(task: Any, option: str) -> None:
    """Refuse the option to read pictures unchanged, by the name that the caller typed, where none are scaled."""
    if not isinstance(task, FitsPictures):
        raise Fault(f"This model does not read pictures of a fixed size; omit {option}.")


def with_remarks(task: Any, files: Iterable[Any], remark: Remark) -> Iterator[Any]:
    """Yield the files, and remark on the first pictures that are scaled and on how many more there are."""
    scaled = 0
    for file in files:
        text = remark_on(task, file)
        scaled += bool(text)
        if text and scaled <= MOST_REMARKS:
            remark(f"{text} --as-is refuses it instead.")
        yield file
    if scaled > MOST_REMARKS:
        remark(f"So were {scaled - MOST_REMARKS:,} more pictures.")


def remark_on(task: Any, file: Any) -> str:
    """Return a remark on how a picture is changed before a task reads it, or "" if it is not."""
    return task.remark_on(file) if isinstance(task, FitsPictures) and not isinstance(file, AsIs) else ""
