"""Describe a language model by its recipe, tokeniser and weight shapes, without torch."""

from collections.abc import Mapping

from regard.data.tokenisers.tokeniser import Tokeniser, tokenisers_in
from regard.tasks.description import Described, FindCost, Shapes, count_parameters
from regard.tasks.language.options import LanguageRecipe


def describe(
    recipe: LanguageRecipe, files: Mapping[str, bytes], shapes: Shapes, cost: FindCost, size: int
) -> Described:
    """Describe a model that learnt by gradient, with the cost of a text of `size` tokens."""
    tokeniser = tokeniser_of(recipe, files)
    facts = language_facts(tokeniser.size - len(never_written(tokeniser)), getattr(recipe.model, "context", None))
    return Described(count_parameters(shapes), facts, cost(recipe.model, shapes, tokeniser.size, size))


def tokeniser_of(recipe: LanguageRecipe, files: Mapping[str, bytes]) -> Tokeniser:
    """Return the tokeniser in the files of a model folder."""
    return tokenisers_in(files, recipe.data.tokeniser.full())[0]


def never_written(tokeniser: Tokeniser) -> list[int]:
    """Return the tokens that a network may read but never writes."""
    return sorted({tokeniser.pad, tokeniser.begin} - {tokeniser.end})


def language_facts(vocabulary: int, context: int | None) -> dict[str, int]:
    """Return how many tokens a model can write, and its context length if it has one."""
    return {"vocabulary": vocabulary} | ({} if context is None else {"context": context})
