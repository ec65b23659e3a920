"""Loaded models as far as seeing knows them; whoever loads models stands above, and hands them in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from torch import nn


class Loaded(Protocol):
    """A model with its task and its recipe, the folder it was loaded from, and the parts of its network by name."""

    task: Any
    recipe: Any
    folder: Path | None

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]: ...
