"""Progress of long-running work."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable


@runtime_checkable
class Progress(Protocol):
    """Called often with the name of the work, the amount done, and the total (None if unknown)."""

    def __call__(self, what: str, done: int, total: int | None) -> None: ...


def silent(what: str, done: int, total: int | None) -> None:
    """Ignore progress."""


Remark = Callable[[str], None]  # a sentence that users should know


def ignore_remark(sentence: str) -> None:
    """Ignore a remark."""
