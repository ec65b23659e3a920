"""Recipe options for networks that read handwriting."""

from typing import Any

from pydantic import Field

from regard.base.recipe import Recipe
from regard.data.pictures.written_lines import LineData
from regard.training.options import Precision, TrainingOptions, best_by, numbers_in


class HandwritingTraining(TrainingOptions):
    """Training options for networks that read handwriting."""

    batch: int = Field(default=64, ge=1, le=2**16, description="Lines in a batch.")
    best_by: str = best_by("error")
    precision: Precision = numbers_in("float32", "sums over paths are in float32")


class HandwritingRecipe(Recipe):
    """Recipe for networks that read handwriting: family, data, model and training."""

    data: LineData = Field(description="The signs, and the lines made of them.")
    model: Any = Field(description="The architecture of the model.")
    training: HandwritingTraining = Field(default_factory=HandwritingTraining, description="How it is trained.")
