"""A clock that a test sets for itself alone, while other threads keep the system's."""

import threading
import time
from collections.abc import Callable

import pytest


def tell_time(monkeypatch: pytest.MonkeyPatch, clock: Callable[[], float]) -> None:
    """Let `time.monotonic` return the time of `clock` in this thread until the test ends.

    Servers that several tests share run in other threads. An event loop whose clock is changed waits for the
    difference, which may be hours, and does not see that its server is asked to stop.
    """
    system, own = time.monotonic, threading.get_ident()
    monkeypatch.setattr(time, "monotonic", lambda: clock() if threading.get_ident() == own else system())
