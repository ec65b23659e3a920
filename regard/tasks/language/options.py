"""What a recipe for a language model says, beside what its model is built like."""

from typing import Any

from pydantic import Field

from regard.base.recipe import Recipe
from regard.data.texts.options import LanguageData
from regard.decoding.options import DecodingOptions
from regard.training.options import CountingOptions


class LanguageRecipe(Recipe):
    """What decides every language model, however it learns: family, data, model and search."""

    data: LanguageData = Field(description="The text and how it is cut into tokens.")
    model: Any = Field(description="What the model is built like.")
    decoding: DecodingOptions = Field(default_factory=DecodingOptions, description="How outputs are chosen.")


class CountedLanguageTraining(CountingOptions):
    """What a language model that counts is told of its training."""

    batch_tokens: int = Field(
        default=131_072, ge=1, description="Tokens that are counted at once, about; it changes nothing but the speed."
    )


class CountedLanguageRecipe(LanguageRecipe):
    """All that decides a language model that counts."""

    training: CountedLanguageTraining = Field(default_factory=CountedLanguageTraining, description="How it is trained.")
