"""Pauses between the steps of long work, in which whoever runs it may cancel it, or serve someone else first.

Whatever may take long calls `between_steps` before each step: searches, networks that are served, sounds and drawings
as they come about. What waits for an engine that cannot be interrupted calls it while it waits; a library that has no
steps runs in `beside_pauses`. Nothing happens there unless it runs inside `pausing`.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from typing import TypeVar

Pause = Callable[[bool], None]  # told whether other work may use the model now; what it raises ends this work
T = TypeVar("T")

_NAP = 0.01  # seconds between two pauses while another thread works
_left_behind: list[threading.Thread] = []  # which work on what nobody waits for any more
_pause: ContextVar[Pause | None] = ContextVar("pause", default=None)
_loads: ContextVar[list[object] | None] = ContextVar("loads", default=None)


@contextmanager
def pausing(pause: Pause) -> Iterator[list[object]]:
    """Have `pause` called between the steps of all work in here; the list gets what was loaded for it meanwhile."""
    loads: list[object] = []
    tokens = _pause.set(pause), _loads.set(loads)
    try:
        yield loads
    finally:
        _pause.reset(tokens[0])
        _loads.reset(tokens[1])


def has_pauses() -> bool:
    """Return True if anything would happen between two steps."""
    return _pause.get() is not None


def between_steps(is_free: bool = True) -> None:
    """Let whoever runs this work have a moment; `is_free` says whether other work may use the model in it."""
    pause = _pause.get()
    if pause is not None:
        pause(is_free)


def beside_pauses(work: Callable[[], T]) -> T:
    """Return what `work` gives, which cannot be interrupted; where there are pauses, they go on beside it.

    Then another thread does the work. If a pause ends it, the thread is left behind, and the next such work waits for
    it, so that these threads never become many.
    """
    if not has_pauses():
        return work()
    found: list[T] = []
    failed: list[BaseException] = []

    def do() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)

    for thread in list(_left_behind):
        _pause_until_over(thread)
    thread = threading.Thread(target=copy_context().run, args=(do,), name="regard beside", daemon=True)
    thread.start()
    try:
        _pause_until_over(thread)
    except BaseException:
        _left_behind.append(thread)
        raise
    if failed:
        raise failed[0]
    return found[0]


def load_beside_pauses(load: Callable[[], T]) -> T:
    """Return what `load` gives, which is needed but once, so that nobody takes its time for that of the work."""
    loads = _loads.get()
    if loads is not None:
        loads.append(load)
    return beside_pauses(load)


def _pause_until_over(thread: threading.Thread) -> None:
    while thread.is_alive():
        between_steps()
        thread.join(_NAP)
    with suppress(ValueError):
        _left_behind.remove(thread)
