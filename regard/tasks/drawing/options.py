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
        description="Importance samples per picture for a tighter measured bound; 1 is the published bound.",
    )
    divergence_warmup: int = Field(
        default=0,
        ge=0,
        description="Steps over which the weight of the divergence grows from zero to one; 0: it is always one.",
    )
    compile_step: bool = Field(
        default=False,
        description="On a GPU, train by fused kernels; for pictures too large for them, compile the operations between "
        "matrix products, which takes a minute.",
    )
    tf32: bool = Field(default=False, description="On a GPU, compute linear layers in TF32; filters stay in float32.")
    precision: Literal["float32"] = Field(
        default="float32", description="Numbers of the forward pass; in bf16 windows would lie on a coarse grid."
    )
    best_by: str = best_by("bound")


class DrawingRecipe(Recipe):
    """Recipe for a network that draws: family, data, model and training."""

    data: BinaryData = Field(description="The pictures and how they are prepared.")
    model: Any = Field(description="The architecture of the model.")
    training: DrawingTraining = Field(default_factory=DrawingTraining, description="How it is trained.")
