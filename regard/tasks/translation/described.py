"""What there is to say of a translator, from its recipe, its tokenisers and the shapes of its weights; no torch."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple

from regard.data.tokenisers.tokeniser import Tokeniser, tokenisers_in
from regard.tasks.translation.options import TranslationRecipe

Shapes = Mapping[str, tuple[int, ...]]  # of weights, by their names
FindCost = Callable[[Any, Shapes, int, int], dict[str, int | float]]  # by options, shapes, target tokens and length

_BUFFERS = ("model.output_bias",)  # kept with the weights, and not learnt


class Described(NamedTuple):
    """How many numbers a translator has learnt, what its task knows of it, and what an input costs."""

    parameters: int
    facts: dict[str, Any]
    cost: dict[str, int | float]


def describe(
    recipe: TranslationRecipe, files: Mapping[str, bytes], shapes: Shapes, cost: FindCost, size: int
) -> Described:
    """Describe a translator; the cost is that of `size` tokens in and out."""
    source, target = tokenisers_in(files, recipe.data.tokeniser)
    learnt = {name: shape for name, shape in shapes.items() if name not in _BUFFERS}
    parameters = sum(map(prod, learnt.values()))
    return Described(parameters, token_facts(source, target), cost(recipe.model, learnt, target.size, size))


def token_facts(source: Tokeniser, target: Tokeniser) -> dict[str, int]:
    """Return how many tokens a translator reads and writes."""
    return {"source tokens": source.size, "target tokens": target.size}
