"""A model described without building its network: by its recipe, its files and the shapes of its weights."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple

Shapes = Mapping[str, tuple[int, ...]]  # of weights, by their names
FindCost = Callable[[Any, Shapes, int, int], dict[str, int | float]]  # by options, shapes, output tokens and size


class Described(NamedTuple):
    """The numbers that a model has learnt, the facts of its task, and the cost of an input of some size."""

    parameters: int
    facts: dict[str, Any]
    cost: dict[str, int | float]


def count_parameters(shapes: Shapes) -> int:
    """Return how many numbers these weights have together."""
    return sum(map(prod, shapes.values()))
