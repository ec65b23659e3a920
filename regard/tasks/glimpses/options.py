"""Recipe options for networks that look at pictures."""

from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.recipe import Recipe
from regard.data.pictures.options import PictureData
from regard.training.options import Precision, TrainingOptions, best_by, numbers_in

REINFORCED = ("samples", "reward")  # options of networks that sample where they look


class GlimpsesTraining(TrainingOptions):
    """Training options for networks that look at pictures."""

    batch: int = Field(default=128, ge=1, le=2**16, description="Pictures in a batch.")
    samples: int = Field(default=1, ge=1, le=1024, description="Paths of glimpses sampled for each picture.")
    reward: Literal["right", "log-probability"] = Field(
        default="right",
        description="Reward of a path: 1 for the right answer and 0 for others, or log p of the right answer.",
    )
    best_by: str = best_by("error")
    precision: Precision = numbers_in("float32", "in bf16 places lie on a coarse grid")


class GlimpsesRecipe(Recipe):
    """Recipe for picture classifiers: family, data, model and training."""

    data: PictureData = Field(description="The pictures and how they are prepared.")
    model: Any = Field(description="The architecture of the model.")
    training: GlimpsesTraining = Field(default_factory=GlimpsesTraining, description="How it is trained.")

    @model_validator(mode="after")
    def _check_scene(self) -> "GlimpsesRecipe":
        if self.data.scene is not None and self.data.scene.pictures > 1:
            raise ValueError("data.scene.pictures is for drawing; a classifier needs one picture per scene")
        return self

    @model_validator(mode="after")
    def _check_paths(self) -> "GlimpsesRecipe":
        if hasattr(self.model, "glimpses"):
            return self
        for name in REINFORCED:
            if getattr(self.training, name) != GlimpsesTraining.model_fields[name].default:
                raise ValueError(f"training.{name} is for networks that sample where they look; this one sees all")
        return self
