"""Storage for the arrays of counts: in memory or, beyond a budget, in memory-mapped files.

A temporary file has no name once it is open, so nothing is left behind however the process ends. The system writes its
pages back when memory is short, so counts may be larger than memory. Loops go through them span by span.
"""

import errno
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regard.base.faults import Fault

_SPAN = 1 << 20  # rows processed at once
_ARRAYS = 32  # roughly the number of arrays in use at the same time


@dataclass(frozen=True)
class Scratch:
    """Arrays for counting; with a `budget` in bytes, large ones are temporary files, in `folder` if set."""

    budget: int | None = None
    folder: Path | None = None

    def empty(self, rows: int, kind: type[np.generic]) -> np.ndarray:
        """Return an uninitialised array of `rows` rows."""
        size = rows * np.dtype(kind).itemsize
        if self.budget is None or size <= self.budget // _ARRAYS:
            return np.empty(rows, kind)
        try:
            with tempfile.TemporaryFile(dir=self.folder) as file:
                os.posix_fallocate(file.fileno(), 0, size)  # a full disk is an error here, but a crash later on
                return np.memmap(file, kind, mode="r+", shape=(rows,))
        except OSError as error:
            place = self.folder or tempfile.gettempdir()
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise Fault(
                    f"The disk of {place} has no room for {size / 2**20:,.0f} MB of counts. Set training.scratch to "
                    "another folder, or allow more memory with training.memory."
                ) from None
            raise Fault(f"Counts cannot be stored in {place}: {error.strerror}.") from None

    def full(self, rows: int, value: float, kind: type[np.generic]) -> np.ndarray:
        """Return an array of `rows` rows filled with one value."""
        array = self.empty(rows, kind)
        array[:] = value
        return array


IN_MEMORY = Scratch()


def spans(rows: int) -> Iterator[slice]:
    """Yield spans that cover all rows in order; for no rows, one empty span."""
    for start in range(0, max(rows, 1), _SPAN):
        yield slice(start, min(start + _SPAN, rows))
