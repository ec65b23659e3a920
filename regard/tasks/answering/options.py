"""Recipe options for answering questions about stories."""

from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.recipe import TextRecipe
from regard.data.stories.options import StoryData
from regard.training.options import MembersTraining, OptimizerOptions, Precision, ScheduleName, numbers_in


class AnsweringOptimizer(OptimizerOptions):
    """The optimiser, by default as Sukhbaatar et al. 2015 have it.

    They sum a loss over the 32 questions of a batch and we take its mean: their rate of 0.01 is ours of 0.32, and their
    largest norm of 40 is ours of 1.25.
    """

    kind: Literal["adam", "adamw", "sgd", "adagrad", "rmsprop", "asgd"] = Field(
        default="sgd", description="The optimiser: gradient descent without momentum, or another of torch's."
    )
    learning_rate: float = Field(default=0.32, gt=0, le=1000, description="The highest learning rate, after warm-up.")
    schedule: ScheduleName = Field(default="stairs", description="How the learning rate falls after warm-up.")
    warmup: int = Field(default=0, ge=0, description="Steps in which the learning rate rises from zero.")
    fall_after: int = Field(default=10_000, ge=0, description="Steps before the learning rate first falls (stairs).")
    fall_every: int = Field(default=2500, ge=1, description="Steps from one fall to the next (stairs).")
    clip: float = Field(default=1.25, ge=0, description="Largest norm of a gradient; 0 clips nothing.")


class AnsweringTraining(MembersTraining):
    """Training options for answering questions."""

    batch: int = Field(default=32, ge=1, le=2**16, description="Questions in a batch.")
    precision: Precision = numbers_in("float32")
    optimizer: AnsweringOptimizer = Field(default_factory=AnsweringOptimizer, description="The optimiser.")
    empty_memories: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="While it learns, up to so many empty memories for each fact are put at drawn places of a story.",
    )
    linear_start: int = Field(
        default=0,
        ge=0,
        description="Steps in which hops have no softmax yet, at half the learning rate.",
    )
    linear_patience: int = Field(
        default=0,
        ge=0,
        description="Validations in a row that do not lower its loss, after which a restart has its softmaxes back "
        "before linear_start is over; 0: never.",
    )
    supervise_hops: float = Field(
        default=0.0,
        ge=0,
        le=100,
        description="Weight of a loss by which each hop learns to look at the supporting fact of its number.",
    )


class AnsweringRecipe(TextRecipe):
    """All that decides a model that answers questions about stories: family, data, model and training."""

    data: StoryData = Field(description="The stories.")
    model: Any = Field(description="What the model is built like.")
    training: AnsweringTraining = Field(default_factory=AnsweringTraining, description="How it is trained.")

    @model_validator(mode="after")
    def _check_start(self) -> "AnsweringRecipe":
        if self.training.linear_start and not hasattr(self.model, "hops"):
            raise ValueError(f"training.linear_start is for hops without gates, and a {self.family} has gates")
        if self.training.linear_start and self.training.supervise_hops:
            raise ValueError("training.supervise_hops is for hops with a softmax, which training.linear_start omits")
        return self
