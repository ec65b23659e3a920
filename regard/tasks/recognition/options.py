"""Recipe options for networks that classify drawings."""

from typing import Any

from pydantic import Field, model_validator

from regard.base.recipe import Recipe
from regard.data.strokes.options import LabelledStrokeData
from regard.tasks.strokes.options import StrokeOptimizer
from regard.training.options import Precision, TrainingOptions, best_by, numbers_in

FOR_DRAWING = ("gaussians", "latent")  # model options that do not apply here


class RecognitionTraining(TrainingOptions):
    """Training options for networks that classify drawings."""

    steps: int = Field(default=4000, ge=1, description="Updates of the weights in the whole run.")
    batch: int = Field(default=64, ge=1, le=2**16, description="Drawings in a batch.")
    distort: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="How much training drawings are turned, stretched and slanted: the standard deviation of the "
        "noise added to the four numbers of the identity map.",
    )
    best_by: str = best_by("error")
    precision: Precision = numbers_in("float32", "in bf16 places lie on a coarse grid")
    optimizer: StrokeOptimizer = Field(default_factory=StrokeOptimizer, description="The optimiser.")


class RecognitionRecipe(Recipe):
    """Recipe for classifying drawings: family, drawings, model and training."""

    data: LabelledStrokeData = Field(description="The drawings, their classes, and how they are coded.")
    model: Any = Field(description="The architecture of the model.")
    training: RecognitionTraining = Field(default_factory=RecognitionTraining, description="How it is trained.")

    @model_validator(mode="after")
    def _check_effect(self) -> "RecognitionRecipe":
        for name in FOR_DRAWING:
            if getattr(self.model, name) != type(self.model).model_fields[name].default:
                raise ValueError(f"model.{name} is for networks that draw; a classifier has none")
        if self.training.distort and self.data.coding != "triples":
            raise ValueError(f"training.distort is for data.coding = 'triples', but it is '{self.data.coding}'")
        return self
