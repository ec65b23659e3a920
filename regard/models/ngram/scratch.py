"""Room for the arrays of counts: in memory, or, beyond a budget, in files that are mapped into it.

A file of a temporary folder has no name once it is open, so that nothing is left behind, however the process ends. Its
pages are written back by the system where memory is short, so counts may be larger than memory. Loops go through them
span by span.
"""

import errno
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regard.base.faults import Fault

_SPAN = 1 << 20  # rows that are worked on at once
_ARRAYS = 32  # as many as are in use at the same time, about


@dataclass(frozen=True)
class Scratch:
    """Arrays for counting; with a `budget` in bytes, large ones lie in files of `folder`, or of the system's own."""

    budget: int | None = None
    folder: Path | None = None

    def empty(self, rows: int, kind: type[np.generic]) -> np.ndarray:
        """Return an array of so many rows, whose content is arbitrary."""
        size = rows * np.dtype(kind).itemsize
        if self.budget is None or size <= self.budget // _ARRAYS:
            return np.empty(rows, kind)
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                os.posix_fallocate(file.fileno(), 0, size)  # a full disk is an error here, and a crash later on
                return np.memmap(file, kind, mode="r+", shape=(rows,))
        except OSError as error:
            place = self.folder or tempfile.gettempdir()
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise Fault(
                    f"The disk of {place} has no room for {size / 2**20:,.0f} MB of counts; name another folder as "
                    "training.scratch, or allow more memory by training.memory."
                ) from None
            raise Fault(f"Counts cannot be kept in {place}: {error.strerror}.") from None

    def full(self, rows: int, value: float, kind: type[np.generic]) -> np.ndarray:
        """Return an array of so many rows with one value."""
        array = self.empty(rows, kind)
        array[:] = value
        return array


IN_MEMORY = Scratch()


def spans(rows: int) -> Iterator[slice]:
    """Yield the rows from the first to the last, some at once; of none there is one span, which is empty."""
    for start in range(0, max(rows, 1), _SPAN):
        yield slice(start, min(start + _SPAN, rows))
