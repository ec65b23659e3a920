"""Describe a translator by its recipe, tokenisers and weight shapes, without torch."""

from collections.abc import Mapping

from regard.data.tokenisers.tokeniser import Tokeniser, tokenisers_in
from regard.tasks.description import Described, FindCost, Shapes, count_parameters
from regard.tasks.translation.options import TranslationRecipe

_BUFFERS = ("model.output_bias",)  # stored with the weights, but not learnt


def describe(
    recipe: TranslationRecipe, files: Mapping[str, bytes], shapes: Shapes, cost: FindCost, size: int
) -> Described:
    """Describe a translator, with the cost of `size` tokens in and out."""
    source, target = tokenisers_in(files, recipe.data.tokeniser)
    learnt = {name: shape for name, shape in shapes.items() if name not in _BUFFERS}
    spent = cost(recipe.model, learnt, target.size, size)
    return Described(count_parameters(learnt), token_facts(source, target), spent)


def token_facts(source: Tokeniser, target: Tokeniser) -> dict[str, int]:
    """Return how many tokens a translator reads and writes."""
    return {"source tokens": source.size, "target tokens": target.size}
