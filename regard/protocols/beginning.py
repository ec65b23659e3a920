"""Capabilities of a task before a run of it begins."""

from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from regard.base.progress import Remark


@runtime_checkable
class Samples(Protocol):
    """Can do with a little of data that may be large, where a run is only to be looked at."""

    @classmethod
    def sample(cls, recipe: Any, folder: Path, remark: Remark) -> Any:
        """The recipe with the first of its data, which is written into `folder`; as it is where all lies prepared."""


@runtime_checkable
class Settles(Protocol):
    """Finds on this machine what a recipe leaves open, such as the size of a batch, before a run begins."""

    def settle(self, recipe: Any, prepared: Any, remark: Remark) -> Any: ...


@runtime_checkable
class Outlines(Protocol):
    """Says in a few lines what is about to be trained, beside how large the model is."""

    def outline(self, recipe: Any) -> list[str]: ...


@runtime_checkable
class Begins(Protocol):
    """Begins with more than chance: takes weights from its data, such as ready vectors, before the first step."""

    def begin_with(self, prepared: Any, recipe: Any) -> None: ...
