"""Progress of long-running work, reported whether anyone looks or not."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable


@runtime_checkable
class Progress(Protocol):
    """Called often with what is being done, how far it is, and the whole (None when nobody knows it)."""

    def __call__(self, what: str, done: int, total: int | None) -> None: ...


def silent(what: str, done: int, total: int | None) -> None:
    """The progress of those who do not care to be told."""


Remark = Callable[[str], None]  # what people should know, in a sentence


def ignore_remark(sentence: str) -> None:
    """The remarks of those who do not care to be told."""
