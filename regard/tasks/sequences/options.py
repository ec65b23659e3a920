"""Recipe options for long sequences."""

from typing import Any

from pydantic import Field

from regard.base.recipe import Recipe
from regard.data.sequences.options import SequenceData
from regard.training.options import OptimizerOptions, Precision, ScheduleName, TrainingOptions, numbers_in


class SequenceOptimizer(OptimizerOptions):
    """The optimiser, by default as usual for these jobs."""

    learning_rate: float = Field(default=1e-3, gt=0, le=1000, description="The highest learning rate, after warm-up.")
    schedule: ScheduleName = Field(default="constant", description="How the learning rate falls after warm-up.")
    warmup: int = Field(default=0, ge=0, description="Steps in which the learning rate rises from zero.")


class SequenceTraining(TrainingOptions):
    """Training options for networks over long sequences."""

    batch: int = Field(default=128, ge=1, le=2**16, description="Sequences in a batch.")
    precision: Precision = numbers_in("float32", "in bf16 numbers are lost after many steps")
    optimizer: SequenceOptimizer = Field(default_factory=SequenceOptimizer, description="The optimiser.")


class SequencesRecipe(Recipe):
    """Recipe for long sequences: family, data, model and training."""

    data: SequenceData = Field(description="What to remember, and for how long.")
    model: Any = Field(description="The architecture of the model.")
    training: SequenceTraining = Field(default_factory=SequenceTraining, description="How it is trained.")
