"""Giving memory back to the system after a request that needed much."""

import ctypes
import resource
import sys
from pathlib import Path

_GROWN = 1.05  # times what it was when memory was last given back
_LEAST = 2**24  # bytes; less is not worth the time


class Memory:
    """The memory that this process holds, and held before the work that was just done."""

    def __init__(self) -> None:
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None  # of glibc
        self._held = resident_bytes()

    def give_back(self) -> None:
        """Give the system what nothing uses any more, if there is enough of it.

        The C library keeps memory that was freed for the next request, which hardly ever needs as much.
        """
        now = resident_bytes()
        if self._trim is not None and now > max(_GROWN * self._held, self._held + _LEAST):
            self._trim(0)
            self._held = resident_bytes()
        else:
            self._held = min(self._held, now)


def resident_bytes() -> float:
    """Return the memory this process has now; where the system does not say, the most it ever had."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
