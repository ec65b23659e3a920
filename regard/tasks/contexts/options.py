"""Recipe options for vectors of words in context."""

from typing import Any

from pydantic import Field

from regard.base.recipe import TextRecipe
from regard.data.texts.options import SpelledData
from regard.training.options import TrainingOptions, best_by


class ContextsTraining(TrainingOptions):
    """Training options for two language models over the same words."""

    batch_tokens: int = Field(default=4096, ge=8, description="Tokens in a batch, including padding and ends.")
    best_by: str = best_by("perplexity")


class ContextsRecipe(TextRecipe):
    """Recipe for contextual word vectors: family, data, model and training."""

    data: SpelledData = Field(description="The text and how it is tokenised.")
    model: Any = Field(description="The architecture of the model.")
    training: ContextsTraining = Field(default_factory=ContextsTraining, description="How it is trained.")
