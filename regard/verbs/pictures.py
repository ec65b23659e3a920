"""Pictures as people have them: made to fit a model, with a remark, or else read as they are."""

from collections.abc import Iterable, Iterator
from typing import Any

from regard.base.faults import Fault
from regard.base.progress import Remark
from regard.data.pictures.fitting import AsIs
from regard.protocols.pictures import FitsPictures

MOST_REMARKS = 3  # on single pictures; of more there is only their number


def mark_as_is(task: Any, files: Iterable[Any]) -> list[AsIs]:
    """Return files of pictures marked to be read as they are."""
    if not isinstance(task, FitsPictures):
        raise Fault("This model reads no pictures of one size, so none can be read as it is; omit as_is.")
    return [AsIs(file) for file in files]


def with_remarks(task: Any, files: Iterable[Any], remark: Remark) -> Iterator[Any]:
    """Yield the files, with a remark on each of the first pictures that are made to fit, and on how many more are."""
    fitted = 0
    for file in files:
        text = remark_on(task, file)
        fitted += bool(text)
        if text and fitted <= MOST_REMARKS:
            remark(f"{text} --as-is refuses it instead.")
        yield file
    if fitted > MOST_REMARKS:
        remark(f"So were {fitted - MOST_REMARKS:,} more pictures.")


def remark_on(task: Any, file: Any) -> str:
    """Return what is done to a picture before a task reads it; an empty text where nothing is."""
    return task.remark_on(file) if isinstance(task, FitsPictures) and not isinstance(file, AsIs) else ""
