"""Training options."""

from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options

# The options of each optimiser besides its learning rate, and their defaults.
OWN_OPTIONS: dict[str, dict[str, float]] = {
    "adam": {"beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9},
    "adamw": {"beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9},
    "sgd": {"momentum": 0.0, "nesterov": False},
    "adagrad": {"epsilon": 1e-10, "first_sum": 0.0},
    "rmsprop": {"smoothing": 0.99, "momentum": 0.0, "centred": False, "epsilon": 1e-8},
    "asgd": {"average_from": 1, "average_trigger": 0},
}
Precision = Literal["auto", "float32", "bf16"]
ScheduleName = Literal["inverse-sqrt", "cosine", "linear", "constant", "stairs", "trapezoid"]
OF_STAIRS = ("fall_after", "fall_every", "fall_to")


def _own(name: str, sentence: str) -> str:
    """Return the description of an option that some optimisers have, with its default for each."""
    defaults = [f"{kind}: {own_options[name]}" for kind, own_options in OWN_OPTIONS.items() if name in own_options]
    return f"{sentence} ({', '.join(defaults)}).".replace("False", "false")


def best_by(measure: str) -> Any:
    """Return the option for the measure that decides which weights are best, for a task with this default."""
    return Field(default=measure, description="Validation measure that decides which weights are best.")


def numbers_in(precision: Precision, remark: str = "auto is bf16 on CUDA and float32 elsewhere") -> Any:
    """Return the option for the precision of a network, for a task with this default."""
    return Field(default=precision, description=f"Precision of the forward pass; {remark}.")


class OptimizerOptions(Options):
    """The optimiser, one of torch's, and its learning rate schedule."""

    kind: Literal["adam", "adamw", "sgd", "adagrad", "rmsprop", "asgd"] = Field(
        default="adam",
        description="Optimiser: Adam, AdamW, gradient descent, Adagrad, RMSprop, or gradient descent that keeps the "
        "mean of its weights.",
    )
    learning_rate: float = Field(
        default=7e-4, gt=0, le=1000, description="Highest learning rate, reached after warm-up."
    )
    schedule: ScheduleName = Field(default="inverse-sqrt", description="How the learning rate falls after warm-up.")
    warmup: int = Field(default=4000, ge=0, description="Steps over which the learning rate rises from zero.")
    fall_after: int = Field(default=0, ge=0, description="Steps before the learning rate first falls (stairs).")
    fall_every: int = Field(default=1000, ge=1, description="Steps between falls (stairs).")
    fall_to: float = Field(default=0.5, gt=0, le=1, description="Factor on the learning rate at each fall (stairs).")
    falls: list[list[int]] = Field(
        default_factory=list,
        description="Pairs of a step and the length of the run planned there (trapezoid): from the first step on the "
        "learning rate falls linearly to zero, from each later one on towards the new end; none: in the second half.",
    )
    beta1: float | None = Field(default=None, ge=0, lt=1, description=_own("beta1", "Decay of the mean of gradients"))
    beta2: float | None = Field(
        default=None, ge=0, lt=1, description=_own("beta2", "Decay of the mean of squared gradients")
    )
    epsilon: float | None = Field(
        default=None, gt=0, description=_own("epsilon", "Value added to the root that divides a step")
    )
    momentum: float | None = Field(
        default=None, ge=0, lt=1, description=_own("momentum", "Share of a step that carries over to the next")
    )
    nesterov: bool | None = Field(default=None, description=_own("nesterov", "Use Nesterov momentum"))
    smoothing: float | None = Field(
        default=None, ge=0, lt=1, description=_own("smoothing", "Decay of the mean of squared gradients")
    )
    centred: bool | None = Field(
        default=None, description=_own("centred", "Divide by the deviation of the gradients, not by their size")
    )
    first_sum: float | None = Field(
        default=None, ge=0, description=_own("first_sum", "Initial value of the sum of squared gradients")
    )
    average_from: int | None = Field(
        default=None, ge=1, description=_own("average_from", "Step from which on the weights are averaged")
    )
    average_trigger: int | None = Field(
        default=None,
        ge=0,
        description=_own(
            "average_trigger",
            "Start averaging at the first validation that is worse than the best one of more than this many "
            "validations ago; 0: start at average_from",
        ),
    )
    weight_decay: float = Field(
        default=0.0,
        ge=0,
        description="Weight decay: with adamw separate from the gradient and of matrices only, with the others as L2 "
        "in the gradient of every weight.",
    )
    clip: float = Field(default=1.0, ge=0, description="Largest norm of the gradient; 0: no clipping.")

    @model_validator(mode="before")
    @classmethod
    def _fill_in_own(cls, table: Any) -> Any:
        """Fill in the options of the chosen optimiser, so that they are written out; those of others stay unset."""
        if not isinstance(table, dict):
            return table
        kind = table.get("kind", cls.model_fields["kind"].default)
        return OWN_OPTIONS.get(kind, {}) | table if isinstance(kind, str) else table

    @model_validator(mode="after")
    def _check_own(self) -> "OptimizerOptions":
        own_options = OWN_OPTIONS[self.kind]
        for name in {name: None for others in OWN_OPTIONS.values() for name in others}:
            if name not in own_options and getattr(self, name) is not None:
                owners = " and ".join(kind for kind, others in OWN_OPTIONS.items() if name in others)
                raise ValueError(f"{name} belongs to {owners}; {self.kind} has {', '.join(own_options)}")
        if self.nesterov and not self.momentum:
            raise ValueError("nesterov needs momentum, which is 0")
        if self.average_trigger and self.average_from != OWN_OPTIONS["asgd"]["average_from"]:
            raise ValueError("average_from and average_trigger both say when averaging begins; give only one of them")
        return self

    @model_validator(mode="after")
    def _check_stairs(self) -> "OptimizerOptions":
        for name in OF_STAIRS:
            if self.schedule != "stairs" and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for schedule = 'stairs', not '{self.schedule}'")
        return self

    @model_validator(mode="after")
    def _check_falls(self) -> "OptimizerOptions":
        if self.falls and self.schedule != "trapezoid":
            raise ValueError(f"falls is for schedule = 'trapezoid', not '{self.schedule}'")
        are_pairs = all(len(fall) == 2 and 0 <= fall[0] <= fall[1] for fall in self.falls)
        starts = [fall[0] for fall in self.falls if fall]
        if not are_pairs or starts != sorted(set(starts)):
            raise ValueError("falls needs pairs of a step and a later end, with steps that rise from pair to pair")
        return self


class TrainingOptions(Options):
    """Options of all training by gradient: how long, how carefully and where."""

    steps: int = Field(default=20_000, ge=1, description="Updates of the weights in the whole run.")
    accumulate: int = Field(default=1, ge=1, description="Batches whose gradients are summed for one update.")
    pieces: int = Field(
        default=1,
        ge=1,
        le=4096,
        description="Pieces that each batch is cut into, for several processes to share; 1 leaves a batch whole.",
    )
    sharded: bool = Field(
        default=False,
        description="Let each process store only its share of the weights, gradients and optimiser state, by FSDP2.",
    )
    validate_every: int = Field(default=500, ge=1, description="Steps between validations.")
    save_every: int = Field(default=500, ge=1, description="Steps between checkpoints.")
    keep: int = Field(default=5, ge=1, description="Checkpoints whose weights are kept for averaging.")
    best_by: str = best_by("loss")
    patience: int = Field(default=0, ge=0, description="Stop after this many validations without a new best; 0: never.")
    final: Literal["best", "last", "average"] = Field(
        default="best", description="Weights to publish at the end: the best, the last, or the mean of those kept."
    )
    moving_average: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Decay of a moving average of the weights, which is validated instead; 0: none.",
    )
    precision: Precision = numbers_in("auto")
    device: str = Field(default="auto", description="Where to train: auto, cpu, cuda or cuda:1.")
    optimizer: OptimizerOptions = Field(default_factory=OptimizerOptions, description="The optimiser.")

    @property
    def harder_until(self) -> int:
        """Last step until which batches become harder on purpose, so that a loss may rise."""
        return 0

    @model_validator(mode="after")
    def _check_averages(self) -> "TrainingOptions":
        if self.moving_average and self.optimizer.kind == "asgd":
            raise ValueError("moving_average does not work with the optimiser asgd, which averages the weights itself")
        if self.sharded and (self.moving_average or self.optimizer.kind == "asgd" or self.final == "average"):
            raise ValueError("sharded weights cannot be averaged; omit moving_average, asgd and final = 'average'")
        return self


class TeacherOptions(TrainingOptions):
    """Options for training a model that also learns the distributions of teachers: word-level distillation."""

    teachers: list[str] = Field(
        default=[],
        description="Model folders with the same task and tokens, whose mean distribution at each place the model "
        "learns too: word-level distillation.",
    )
    teacher_weight: float = Field(
        default=0.5, ge=0, le=1, description="Share of the teachers' distribution in the loss; 0: they have no effect."
    )
    teacher_temperature: float = Field(
        default=1.0,
        gt=0,
        le=100,
        description="Temperature of both distributions when they are compared; above 1, unlikely tokens count more.",
    )
    teacher_checksums: list[str] | None = Field(
        default=None, description="Checksums of the teachers' weights, noted when a run begins."
    )

    @model_validator(mode="after")
    def _check_teachers(self) -> "TeacherOptions":
        if self.teacher_checksums is not None and len(self.teacher_checksums) != len(self.teachers):
            raise ValueError("teacher_checksums needs one for each of the teachers; omit it, and a new run notes them")
        return self


class MembersTraining(TrainingOptions):
    """Options for training several members of a small model as one stack of tensors."""

    members: int = Field(
        default=1,
        ge=1,
        le=1000,
        description="Models trained side by side, with consecutive seeds from the recipe's on. They answer by their "
        "mean; for stories, the one with the lowest training error answers.",
    )


class CountingOptions(Options):
    """Options of tasks that learn in one pass of counting."""

    save_every: int = Field(default=1000, ge=1, description="Batches counted between checkpoints.")


class UpdatingOptions(Options):
    """Options of tasks with their own update rules: how often they go through all data."""

    epochs: int = Field(default=5, ge=1, description="Number of passes through the training data.")
    save_every: int = Field(default=1000, ge=1, description="Batches between checkpoints.")
    validate_every: int = Field(
        default=1, ge=1, description="Epochs between validations; the last epoch is always validated."
    )


class TextTraining(TrainingOptions):
    """Options for training a model that writes text by gradient."""

    batch_tokens: int | None = Field(
        default=None, ge=8, description="Tokens of the longer side in a batch, with padding; by default, chosen to fit."
    )
    label_smoothing: float = Field(default=0.1, ge=0, lt=1, description="Share of probability spread over all tokens.")


class AnswerTraining(TrainingOptions):
    """Options for training a model that classifies texts or tags words."""

    best_by: str = best_by("accuracy")
    precision: Precision = numbers_in("float32")
