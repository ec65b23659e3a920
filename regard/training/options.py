"""How a model is trained."""

from typing import Literal

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
    """How long, in what portions, and with what care a model is trained."""

    steps: int = Field(default=20_000, ge=1, description="Updates of the weights in the whole run.")
    batch_tokens: int | None = Field(
        default=None, ge=8, description="Tokens of the longer side in a batch, padding counted; found when not given."
    )
    accumulate: int = Field(default=1, ge=1, description="Batches whose gradients are summed for one update.")
    label_smoothing: float = Field(default=0.1, ge=0, lt=1, description="Share of probability given to all tokens.")
    consistency: float = Field(
        default=0.0,
        ge=0,
        description="Weight of R-Drop: each batch goes through twice, and the two passes should agree; 0 is off.",
    )
    freeze: list[str] = Field(
        default=[],
        description="Parts of the model that do not learn: embeddings (with an output layer tied to them), "
        "encoder, decoder.",
    )
    fast: bool = Field(
        default=True,
        description="On a GPU, packed sentences, fused kernels and captured passes in bf16, for models that have them.",
    )
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
    validation_beam: int = Field(
        default=1, ge=0, le=64, description="Beam of the translations made to validate; 0 measures the loss alone."
    )
    log_attention: bool = Field(
        default=False, description="Log to TensorBoard, at each validation, how sharp and how straight each head looks."
    )
    precision: Literal["auto", "float32", "bf16"] = Field(
        default="auto", description="Numbers of the forward pass; auto is bf16 on CUDA and float32 elsewhere."
    )
    device: str = Field(default="auto", description="Where to train: auto, cpu, cuda or cuda:1.")
    optimizer: OptimizerOptions = Field(default_factory=OptimizerOptions, description="The optimiser.")

    @model_validator(mode="after")
    def _check_measure(self) -> "TrainingOptions":
        if self.best_by in ("bleu", "chrf") and self.validation_beam == 0:
            raise ValueError(f"best_by = '{self.best_by}' needs translations, but validation_beam = 0 makes none")
        if self.final == "average" and self.save_every > self.steps:
            raise ValueError(f"final = 'average' needs checkpoints, but none is saved in {self.steps} steps")
        return self
