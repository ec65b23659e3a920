"""Pauses between the steps of long work, in which its caller may cancel it, or serve someone else first.

Whatever may take long calls `between_steps` before each step: searches, served networks, sounds and drawings in
progress. Code that waits for an engine that cannot be interrupted calls it while waiting; a library without steps runs
in `beside_pauses`. Nothing happens there unless it runs inside `pausing`.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from typing import TypeVar

Pause = Callable[[bool], None]  # receives True if other work may use the model now; what it raises ends this work
T = TypeVar("T")

_NAP = 0.01  # seconds between two pauses while another thread works
_left_behind: list[threading.Thread] = []  # threads whose results nobody waits for any more
_pause: ContextVar[Pause | None] = ContextVar("pause", default=None)
_loads: ContextVar[list[object] | None] = ContextVar("loads", default=None)


@contextmanager
def pausing(pause: Pause) -> Iterator[list[object]]:
    """Call `pause` between the steps of all work in this block; the list receives what was loaded meanwhile."""
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
    """Let the caller of this work have a moment; `is_free` is True if other work may use the model in it."""
    pause = _pause.get()
    if pause is not None:
        pause(is_free)


def beside_pauses(work: Callable[[], T]) -> T:
    """Return the result of `work`, which cannot be interrupted, while pauses continue.

    With pauses, another thread does the work. If a pause ends it, the thread is left behind, and the next such work
    waits for it, so that these threads never accumulate.
    """
    if not has_pauses():
        return work()
    results: list[T] = []
    failed: list[BaseException] = []

    def do() -> None:
        try:
            results.append(work())
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
    return results[0]


def load_beside_pauses(load: Callable[[], T]) -> T:
    """Return the result of `load`, which happens only once, and record it as loading time, not work."""
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
