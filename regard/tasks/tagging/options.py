"""Recipe options for taggers: data, training and output layer."""

from typing import Any

from pydantic import Field, model_validator

from regard.base.recipe import TextRecipe
from regard.data.tagging.options import TaggingData
from regard.models.text.word_inputs import InputOptions
from regard.tasks.tagging.measures import OF_SPANS
from regard.training.options import AnswerTraining, OptimizerOptions, ScheduleName


class TaggingOptimizer(OptimizerOptions):
    """The optimiser of a tagger."""

    learning_rate: float = Field(default=2e-3, gt=0, le=1000, description="The highest learning rate, after warm-up.")
    schedule: ScheduleName = Field(default="linear", description="How the learning rate falls after warm-up.")
    warmup: int = Field(default=100, ge=0, description="Steps in which the learning rate rises from zero.")


class TaggingTraining(AnswerTraining):
    """Training options for taggers."""

    steps: int = Field(default=3000, ge=1, description="Updates of the weights in the whole run.")
    batch_tokens: int = Field(
        default=1024,
        ge=1,
        description="Most words in a batch, including padding; a longer sentence is a batch of its own.",
    )
    own_labels: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="With model.previous_label, the share of words that see the model's own previous tag in training "
        "instead of the true one (scheduled sampling).",
    )
    optimizer: TaggingOptimizer = Field(default_factory=TaggingOptimizer, description="The optimiser.")


class TaggingRecipe(TextRecipe):
    """Recipe for a tagger: family, data, model and training."""

    data: TaggingData = Field(description="The sentences and their tags.")
    model: Any = Field(description="The architecture of the model.")
    training: TaggingTraining = Field(default_factory=TaggingTraining, description="How it is trained.")

    @model_validator(mode="after")
    def _check_together(self) -> "TaggingRecipe":
        if self.training.own_labels and not self.model.previous_label:
            raise ValueError("training.own_labels is for model.previous_label = true; this model does not use it")
        inputs: InputOptions | None = getattr(self.model, "inputs", None)
        if inputs is None and self.data.tokeniser is None:
            raise ValueError(f"a {self.family} reads word pieces, so data.tokeniser must be set")
        if inputs is not None and self.data.tokeniser is not None:
            raise ValueError(f"data.tokeniser is for families that read word pieces, not for {self.family}")
        if inputs is not None and inputs.vectors != "random":
            raise ValueError("model.inputs.vectors must be 'random' here: taggers take no ready vectors")
        if self.training.best_by in OF_SPANS and self.data.scheme == "tags":
            raise ValueError(f"training.best_by = '{self.training.best_by}' is for spans, and data.scheme has none")
        return self
