"""Returning memory to the system after large requests."""

import ctypes
import resource
import sys
from pathlib import Path

_GROWN = 1.05  # times the memory when it was last returned
_LEAST = 2**24  # bytes; less is not worth the time


class Memory:
    """The memory of this process, and when to return some of it."""

    def __init__(self) -> None:
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None  # of glibc
        self._held = resident_bytes()

    def give_back(self) -> None:
        """Return unused memory to the system, if there is enough of it.

        The C library keeps freed memory for the next request, which hardly ever needs as much.
        """
        now = resident_bytes()
        if self._trim is not None and now > max(_GROWN * self._held, self._held + _LEAST):
            self._trim(0)
            self._held = resident_bytes()
        else:
            self._held = min(self._held, now)


def resident_bytes() -> float:
    """Return the current memory of this process, or its peak if the system reports only that."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
