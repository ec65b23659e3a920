"""Recipe options for learning algorithms: data, training and measurement."""

import math
from typing import Any

from pydantic import Field, model_validator

from regard.base.recipe import Recipe
from regard.data.algorithms.options import AlgorithmData
from regard.training.options import MembersTraining, OptimizerOptions, Precision, ScheduleName, numbers_in


class AlgorithmOptimizer(OptimizerOptions):
    """The optimiser for networks with a memory."""

    learning_rate: float = Field(default=1e-3, gt=0, le=1000, description="The highest learning rate, after warm-up.")
    schedule: ScheduleName = Field(default="constant", description="How the learning rate falls after warm-up.")
    warmup: int = Field(default=0, ge=0, description="Steps in which the learning rate rises from zero.")
    clip: float = Field(default=10.0, ge=0, description="Largest norm of a gradient; 0 clips nothing.")


class AlgorithmTraining(MembersTraining):
    """Training options for algorithms. An epoch is the time between two validations; no example repeats."""

    batch: int = Field(default=16, ge=1, le=2**16, description="Examples in a batch, all with equally many items.")
    curriculum: int = Field(
        default=0,
        ge=0,
        description="Batches over which the largest number of items grows from data.fewest to data.most; 0: none.",
    )
    repeats_curriculum: int = Field(
        default=0,
        ge=0,
        description="Batches over which the largest number of repeats grows from 1 to data.most_repeats (repeat-copy); "
        "0: none.",
    )
    precision: Precision = numbers_in("float32", "in bf16 addresses are too coarse to count slots")
    optimizer: AlgorithmOptimizer = Field(default_factory=AlgorithmOptimizer, description="The optimiser.")

    @property
    def harder_until(self) -> int:
        return math.ceil(max(self.curriculum, self.repeats_curriculum) / self.accumulate)


class AlgorithmRecipe(Recipe):
    """Recipe for learning an algorithm: family, algorithm, model and training."""

    data: AlgorithmData = Field(description="The algorithm and its examples.")
    model: Any = Field(description="The architecture of the model.")
    training: AlgorithmTraining = Field(default_factory=AlgorithmTraining, description="How it is trained.")

    @model_validator(mode="after")
    def _check_repeats(self) -> "AlgorithmRecipe":
        if self.training.repeats_curriculum and self.data.algorithm != "repeat-copy":
            raise ValueError(f"training.repeats_curriculum is for 'repeat-copy', not for '{self.data.algorithm}'")
        return self

    @model_validator(mode="after")
    def _check_slots(self) -> "AlgorithmRecipe":
        for name in ("valid", "test"):
            held_out = getattr(self.data, name)
            if held_out is None or held_out.slots is None:
                continue
            if not hasattr(self.model, "slots"):
                raise ValueError(f"data.{name}.slots is for models with memory slots, which this one lacks")
            # A model with this many slots must be valid too: its reach or nearest slots depend on them.
            type(self.model)(**self.model.model_dump() | {"slots": held_out.slots})
        return self
