"""Toys on which families are tried; imports no torch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Toy:
    """A family's toy: a recipe that trains in a second, and two inputs as people give them.

    `table` writes the data it needs into a folder and returns its recipe, without family and seed. A run that learns by
    gradient takes four steps by default. `inputs` are given, or written into the folder. `draws` says that the loss
    uses random numbers even without dropout, so that pieces of a batch get different ones.
    """

    table: Callable[[Path], dict[str, Any]]
    inputs: Sequence[str] | Callable[[Path], Sequence[str]] = ()
    draws: bool = False
