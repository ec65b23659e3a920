"""Capabilities of tasks that draw: from nothing, from given strokes, or from a text."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch

from regard.viewing.drawings import Drawn, SketchRequest


@runtime_checkable
class Draws(Protocol):
    """Draws pictures or strokes from random numbers, from a CPU generator, drawing by drawing."""

    def draw(self, count: int, chance: torch.Generator) -> Sequence[Drawn]: ...


@runtime_checkable
class Sketches(Draws, Protocol):
    """Draws strokes, from nothing or from given ones."""

    def sketch(self, count: int, chance: torch.Generator, request: SketchRequest) -> Sequence[Drawn]: ...


@runtime_checkable
class Paints(Protocol):
    """Draws what the texts of a batch ask for, with random numbers from a CPU generator, drawing by drawing.

    The further the temperature is below 1, the more often the most probable is drawn.
    """

    def paint(self, batch: Any, chance: torch.Generator, temperature: float) -> Sequence[Drawn]: ...


@runtime_checkable
class Redraws(Protocol):
    """Redraws what it reads: returns the bound of −log p for each picture of a batch, in nats."""

    def redraw(self, batch: Any) -> list[float]: ...
