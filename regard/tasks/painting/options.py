"""Recipe options for models that paint."""

from typing import Any

from pydantic import Field

from regard.base.recipe import Recipe
from regard.data.painting.options import PaintingData
from regard.training.options import Precision, TrainingOptions, numbers_in


class PaintingTraining(TrainingOptions):
    """Training options for models that paint."""

    batch: int = Field(default=128, ge=1, le=2**16, description="Pictures in a batch.")
    precision: Precision = numbers_in("float32", "in bf16 near codes are harder to tell apart")


class PaintingRecipe(Recipe):
    """Recipe for a model that paints: family, data, model and training."""

    data: PaintingData = Field(description="The pictures and their captions.")
    model: Any = Field(description="The architecture of the model.")
    training: PaintingTraining = Field(default_factory=PaintingTraining, description="How it is trained.")
