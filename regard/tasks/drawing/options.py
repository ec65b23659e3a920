"""Recipe options for networks that draw."""

from typing import Any, Literal

from pydantic import Field

from regard.base.recipe import Recipe
from regard.data.pictures.binary import BinaryData
from regard.training.options import TrainingOptions, best_by


class DrawingTraining(TrainingOptions):
    """Training options for networks that draw."""

    batch: int = Field(default=250, ge=1, le=2**16, description="Pictures in a batch.")
    importance: int = Field(
        default=1,
        ge=1,
        le=1024,
        description="Samples of each picture by which a measured bound is tightened; 1 is the bound that is published.",
    )
    divergence_warmup: int = Field(
        default=0,
        ge=0,
        description="Steps in which the divergence comes to count as much as the reconstruction; 0: it always does.",
    )
    compile_step: bool = Field(
        default=False,
        description="Compile what lies between the products of a step, on a GPU: it takes a minute, and the steps are "
        "quicker from then on.",
    )
    tf32: bool = Field(
        default=False, description="Compute the products of linear layers in TF32, on a GPU; filters stay in float32."
    )
    precision: Literal["float32"] = Field(
        default="float32", description="Numbers of the forward pass; in bf16 windows would lie on a coarse grid."
    )
    best_by: str = best_by("bound")


class DrawingRecipe(Recipe):
    """All that decides a network that draws: family, data, model and training."""

    data: BinaryData = Field(description="The pictures and what is made of them.")
    model: Any = Field(description="What the model is built like.")
    training: DrawingTraining = Field(default_factory=DrawingTraining, description="How it is trained.")
