"""Toys on which families are tried; no torch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Toy:
    """A family's toy: a recipe that is trained in a second, and two inputs as people give them.

    `table` writes the data that it needs into a folder and returns its recipe, without family and seed; a run that
    learns by gradient has four steps where it does not say how many. `inputs` are given, or written into the folder.
    The loss of some draws random numbers even where there is no dropout, so that pieces of a batch draw others.
    """

    table: Callable[[Path], dict[str, Any]]
    inputs: Sequence[str] | Callable[[Path], Sequence[str]] = ()
    draws: bool = False
