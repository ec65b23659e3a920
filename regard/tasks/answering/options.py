"""Recipe options for answering questions about stories."""

from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.recipe import TextRecipe
from regard.data.stories.options import StoryData
from regard.training.options import MembersTraining, OptimizerOptions, Precision, ScheduleName, numbers_in


class AnsweringOptimizer(OptimizerOptions):
    """The optimiser, by default as in Sukhbaatar et al. 2015.

    They sum the loss over the 32 questions of a batch and we take its mean: their learning rate of 0.01 is 0.32 here,
    and their largest norm of 40 is 1.25.
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
        description="In training, insert up to this many empty memories per fact at random places in a story.",
    )
    linear_start: int = Field(
        default=0,
        ge=0,
        description="Steps at the start without a softmax in the hops, at half the learning rate.",
    )
    linear_patience: int = Field(
        default=0,
        ge=0,
        description="Validations in a row without a lower loss after which a restart gets its softmaxes back "
        "before linear_start is over; 0: never.",
    )
    supervise_hops: float = Field(
        default=0.0,
        ge=0,
        le=100,
        description="Weight of a loss that trains each hop to attend to the supporting fact of its number.",
    )
    supervise_last: bool = Field(
        default=False,
        description="With supervise_hops: train hops after the last supporting fact to attend to it again.",
    )


class AnsweringRecipe(TextRecipe):
    """Recipe for answering questions about stories: family, data, model and training."""

    data: StoryData = Field(description="The stories.")
    model: Any = Field(description="The architecture of the model.")
    training: AnsweringTraining = Field(default_factory=AnsweringTraining, description="How it is trained.")

    @model_validator(mode="after")
    def _check_start(self) -> "AnsweringRecipe":
        if self.training.linear_start and not hasattr(self.model, "hops"):
            raise ValueError(f"training.linear_start is for hops without gates, but a {self.family} has gates")
        if self.training.linear_start and self.training.supervise_hops:
            raise ValueError("training.supervise_hops is for hops with a softmax, which training.linear_start omits")
        if self.training.supervise_last and not self.training.supervise_hops:
            raise ValueError("training.supervise_last is for supervised hops, but training.supervise_hops is 0")
        return self
