"""Pauses between the steps of long work, in which whoever runs it may cancel it, or serve someone else first.

Whatever may take long calls `between_steps` before each step: searches, networks that are served, sounds and drawings
as they come about. What waits for an engine that cannot be interrupted calls it while it waits. Nothing happens there
unless it runs inside `pausing`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Pause = Callable[[bool], None]  # told whether other work may use the model now; what it raises ends this work

_pause: ContextVar[Pause | None] = ContextVar("pause", default=None)


@contextmanager
def pausing(pause: Pause) -> Iterator[None]:
    """Have `pause` called between the steps of all work in here."""
    token = _pause.set(pause)
    try:
        yield
    finally:
        _pause.reset(token)


def has_pauses() -> bool:
    """Return True if anything would happen between two steps."""
    return _pause.get() is not None


def between_steps(is_free: bool = True) -> None:
    """Let whoever runs this work have a moment; `is_free` says whether other work may use the model in it."""
    pause = _pause.get()
    if pause is not None:
        pause(is_free)
