"""Capabilities of a task before its run begins."""

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from regard.base.progress import Remark


@runtime_checkable
class Samples(Protocol):
    """Can use a small sample of large data, for a dry run."""

    @classmethod
    def sample(cls, recipe: Any, folder: Path, remark: Remark) -> Any:
        """Return the recipe with the first part of its data, written into `folder`; unchanged if the data is
        prepared.
        """


@runtime_checkable
class Settles(Protocol):
    """Sets options that a recipe leaves open, such as the batch size, on this machine before a run begins."""

    def settle(self, recipe: Any, prepared: Any, remark: Remark) -> Any: ...


@runtime_checkable
class Outlines(Protocol):
    """Describes what is about to be trained in a few lines, besides the size of the model."""

    def outline(self, recipe: Any) -> list[str]: ...


@runtime_checkable
class Begins(Protocol):
    """Takes initial weights from its data, such as ready vectors, before the first step."""

    def begin_with(self, prepared: Any, recipe: Any) -> None: ...
