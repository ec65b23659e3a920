"""Capabilities of tasks that draw: from nothing, from given strokes, or as a text asks."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch

from regard.viewing.drawings import Drawn, SketchRequest


@runtime_checkable
class Draws(Protocol):
    """Draws pictures or strokes from nothing but chance, which lies on the CPU and is taken drawing by drawing."""

    def draw(self, count: int, chance: torch.Generator) -> Sequence[Drawn]: ...


@runtime_checkable
class Sketches(Draws, Protocol):
    """Draws strokes, and not only from nothing."""

    def sketch(self, count: int, chance: torch.Generator, request: SketchRequest) -> Sequence[Drawn]: ...


@runtime_checkable
class Paints(Protocol):
    """Draws what the texts of a batch ask for, by chance, which lies on the CPU and is taken drawing by drawing.

    The lower the temperature is below 1, the more often what is most probable is drawn.
    """

    def paint(self, batch: Any, chance: torch.Generator, temperature: float) -> Sequence[Drawn]: ...


@runtime_checkable
class Redraws(Protocol):
    """Draws again what it reads: of each picture of a batch the bound of −log p, in nats."""

    def redraw(self, batch: Any) -> list[float]: ...
