"""What a recipe for a model that paints says, beside what its model is built like."""

from typing import Any, Literal

from pydantic import Field

from regard.base.recipe import Recipe
from regard.data.painting.options import PaintingData
from regard.training.options import TrainingOptions


class PaintingTraining(TrainingOptions):
    """What models that paint are told of their training."""

    batch: int = Field(default=128, ge=1, le=2**16, description="Pictures in a batch.")
    best_by: str = Field(default="loss", description="The validation measure that says which weights are best.")
    precision: Literal["auto", "float32", "bf16"] = Field(
        default="float32", description="Numbers of the forward pass; in bf16 near codes are told apart less well."
    )


class PaintingRecipe(Recipe):
    """All that decides a model that paints: family, data, model and training."""

    data: PaintingData = Field(description="The pictures and what is said of them.")
    model: Any = Field(description="What the model is built like.")
    training: PaintingTraining = Field(default_factory=PaintingTraining, description="How it is trained.")
