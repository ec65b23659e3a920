"""Recipe options for networks that draw strokes."""

from typing import Any

from pydantic import Field, model_validator

from regard.base.recipe import Recipe
from regard.data.strokes.options import StrokeData
from regard.training.options import OptimizerOptions, Precision, ScheduleName, TrainingOptions, best_by, numbers_in


class StrokeOptimizer(OptimizerOptions):
    """The optimiser of networks that draw."""

    learning_rate: float = Field(default=1e-3, gt=0, le=1000, description="The highest learning rate, after warm-up.")
    schedule: ScheduleName = Field(default="cosine", description="How the learning rate falls after warm-up.")
    warmup: int = Field(default=200, ge=0, description="Steps in which the learning rate rises from zero.")


class StrokeTraining(TrainingOptions):
    """Training options for networks that draw strokes."""

    steps: int = Field(default=6000, ge=1, description="Updates of the weights in the whole run.")
    batch: int = Field(default=64, ge=1, le=2**16, description="Drawings in a batch.")
    best_by: str = best_by("nats")
    precision: Precision = numbers_in("float32", "in bf16 places lie on a coarse grid")
    divergence: float = Field(
        default=1.0,
        ge=0,
        le=100,
        description="For autoencoders: weight of the KL divergence in the loss; 1 gives the bound in nats.",
    )
    optimizer: StrokeOptimizer = Field(default_factory=StrokeOptimizer, description="The optimiser.")


class StrokeRecipe(Recipe):
    """Recipe for a network that draws: family, drawings, model and training."""

    data: StrokeData = Field(description="The drawings and how they are coded.")
    model: Any = Field(description="The architecture of the model.")
    training: StrokeTraining = Field(default_factory=StrokeTraining, description="How it is trained.")

    @model_validator(mode="after")
    def _check_effect(self) -> "StrokeRecipe":
        if self.training.divergence != StrokeTraining.model_fields["divergence"].default and not self.model.latent:
            raise ValueError("training.divergence is for autoencoders; this model has model.latent = 0")
        if self.data.coding != "triples" and self.model.gaussians != type(self.model).model_fields["gaussians"].default:
            raise ValueError(f"model.gaussians is for data.coding = 'triples', but it is '{self.data.coding}'")
        return self
