"""Recipe options for text classifiers."""

from typing import Any

from pydantic import Field, model_validator

from regard.base.recipe import TextRecipe
from regard.data.labelled.options import LabelledData
from regard.models.text.word_inputs import InputOptions
from regard.training.options import AnswerTraining, OptimizerOptions, ScheduleName


class ClassificationOptimizer(OptimizerOptions):
    """The optimiser, by default Adam with a constant learning rate."""

    learning_rate: float = Field(default=1e-3, gt=0, le=1000, description="The highest learning rate, after warm-up.")
    schedule: ScheduleName = Field(default="constant", description="How the learning rate falls after warm-up.")
    warmup: int = Field(default=0, ge=0, description="Steps in which the learning rate rises from zero.")


class ClassificationTraining(AnswerTraining):
    """Training options for text classifiers."""

    steps: int = Field(default=2000, ge=1, description="Updates of the weights in the whole run.")
    batch: int = Field(default=50, ge=1, le=2**16, description="Texts in a batch.")
    validate_every: int = Field(default=100, ge=1, description="Steps between validations.")
    optimizer: ClassificationOptimizer = Field(default_factory=ClassificationOptimizer, description="The optimiser.")


def reads_pairs(model: Any) -> bool:
    """Return True if a model with these options reads two texts at once."""
    return getattr(model, "segments", 1) > 1


class ClassificationRecipe(TextRecipe):
    """Recipe for text classifiers: family, data, model and training."""

    data: LabelledData = Field(description="The labelled texts.")
    model: Any = Field(description="The architecture of the model.")
    training: ClassificationTraining = Field(default_factory=ClassificationTraining, description="How it is trained.")

    @model_validator(mode="after")
    def _check_inputs(self) -> "ClassificationRecipe":
        inputs: InputOptions | None = getattr(self.model, "inputs", None)
        kind = inputs.vectors if inputs else None
        wants_ready = kind in ("frozen", "tuned", "both")
        if wants_ready and self.data.vectors is None:
            raise ValueError(f"model.inputs.vectors is '{kind}', so data.vectors must name a file of vectors")
        if not wants_ready and self.data.vectors is not None:
            raise ValueError("data.vectors are for models that start from them; set model.inputs.vectors")
        if kind == "none" and self.data.contexts is None:
            raise ValueError("model.inputs.vectors is 'none', so data.contexts must name a language model")
        if kind is None and self.data.contexts is not None:
            raise ValueError(f"data.contexts are for networks with word inputs, which a {self.family} lacks")
        if self.data.has_pairs and not reads_pairs(self.model):
            raise ValueError(f"data.columns has a second text, but a {self.family} reads one; a bert reads pairs")
        if getattr(self.model, "aspect", "ignored") != "ignored" and not self.data.asks_about_aspects:
            raise ValueError(f"model.aspect is '{self.model.aspect}', so data.format must be 'aspects'")
        return self
