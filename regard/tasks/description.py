"""Describe a model without building its network, from its recipe, files and weight shapes."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple

Shapes = Mapping[str, tuple[int, ...]]  # of weights, by name
FindCost = Callable[[Any, Shapes, int, int], dict[str, int | float]]  # from options, shapes, output tokens and size


class Described(NamedTuple):
    """The number of a model's parameters, the facts of its task, and the cost of an input of some size."""

    parameters: int
    facts: dict[str, Any]
    cost: dict[str, int | float]


def count_parameters(shapes: Shapes) -> int:
    """Return the total number of parameters."""
    return sum(map(prod, shapes.values()))
