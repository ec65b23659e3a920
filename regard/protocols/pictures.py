"""Capabilities of tasks that read pictures."""

from pathlib import Path
from typing import Protocol, runtime_checkable


@runtime_checkable
class FitsPictures(Protocol):
    """Scales pictures to the size it learnt from, and says what it does to them."""

    def remark_on(self, given: str | Path) -> str: ...
