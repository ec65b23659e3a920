"""How a model is trained."""

from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options


class OptimizerOptions(Options):
    """The optimiser and the course of its learning rate."""

    kind: Literal["adam", "adamw"] = Field(default="adam", description="Adam, or AdamW with decoupled weight decay.")
    learning_rate: float = Field(default=7e-4, gt=0, le=10, description="The highest learning rate, after warm-up.")
    schedule: Literal["inverse-sqrt", "cosine", "linear", "constant"] = Field(
        default="inverse-sqrt", description="How the learning rate falls after warm-up."
    )
    warmup: int = Field(default=4000, ge=0, description="Steps in which the learning rate rises from zero.")
    beta1: float = Field(default=0.9, ge=0, lt=1, description="Decay of Adam's mean of gradients.")
    beta2: float = Field(default=0.98, ge=0, lt=1, description="Decay of Adam's mean of squared gradients.")
    epsilon: float = Field(default=1e-9, gt=0, description="Adam's epsilon.")
    weight_decay: float = Field(default=0.0, ge=0, description="Decay of the weight matrices (adamw only).")
    clip: float = Field(default=1.0, ge=0, description="Largest norm of a gradient; 0 clips nothing.")

    @model_validator(mode="after")
    def _check_decay(self) -> "OptimizerOptions":
        if self.weight_decay and self.kind == "adam":
            raise ValueError("weight_decay needs kind = 'adamw'; plain adam has none")
        return self


class TrainingOptions(Options):
    """What all tasks that learn by gradient share: how long, with what care, and where a model is trained."""

    steps: int = Field(default=20_000, ge=1, description="Updates of the weights in the whole run.")
    accumulate: int = Field(default=1, ge=1, description="Batches whose gradients are summed for one update.")
    validate_every: int = Field(default=500, ge=1, description="Steps between validations.")
    save_every: int = Field(default=500, ge=1, description="Steps between checkpoints.")
    keep: int = Field(default=5, ge=1, description="Checkpoints whose weights are kept for averaging.")
    best_by: str = Field(default="loss", description="The validation measure that says which weights are best.")
    patience: int = Field(default=0, ge=0, description="Stop after so many validations without a best one; 0: never.")
    final: Literal["best", "last", "average"] = Field(
        default="best", description="The weights that remain: the best, the last, or the mean of those kept."
    )
    moving_average: float = Field(
        default=0.0, ge=0, lt=1, description="Decay of a moving average of the weights, which is then judged; 0: none."
    )
    precision: Literal["auto", "float32", "bf16"] = Field(
        default="auto", description="Numbers of the forward pass; auto is bf16 on CUDA and float32 elsewhere."
    )
    device: str = Field(default="auto", description="Where to train: auto, cpu, cuda or cuda:1.")
    optimizer: OptimizerOptions = Field(default_factory=OptimizerOptions, description="The optimiser.")

    @model_validator(mode="after")
    def _check_average(self) -> "TrainingOptions":
        if self.final == "average" and self.save_every > self.steps:
            raise ValueError(f"final = 'average' needs checkpoints, but none is saved in {self.steps} steps")
        return self


class CountingOptions(Options):
    """How a task that learns in one pass of counting is trained."""

    save_every: int = Field(default=1000, ge=1, description="Batches counted between checkpoints.")

    @model_validator(mode="before")
    @classmethod
    def _refuse_steps(cls, table: dict[str, Any]) -> dict[str, Any]:
        foreign = [name for name in TrainingOptions.model_fields if name in table and name not in cls.model_fields]
        if foreign:
            raise ValueError(f"{foreign[0]} is for models that learn by gradient; this one goes through its data once")
        return table
