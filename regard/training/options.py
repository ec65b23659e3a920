"""Training options."""

from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options

# What each optimiser can be told beside its learning rate, and what it is where nothing is told.
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
    """The description of an option that some optimisers have, with its default for each of them."""
    defaults = [f"{kind}: {own[name]}" for kind, own in OWN_OPTIONS.items() if name in own]
    return f"{sentence} ({', '.join(defaults)}).".replace("False", "false")


def best_by(measure: str) -> Any:
    """Return the option for the measure that says which weights are best, where a task goes by this one."""
    return Field(default=measure, description="The validation measure that says which weights are best.")


def numbers_in(precision: Precision, remark: str = "auto is bf16 on CUDA and float32 elsewhere") -> Any:
    """Return the option for the precision of a network, where a task computes in this one."""
    return Field(default=precision, description=f"Numbers of the forward pass; {remark}.")


class OptimizerOptions(Options):
    """The optimiser, one of torch's, and the course of its learning rate."""

    kind: Literal["adam", "adamw", "sgd", "adagrad", "rmsprop", "asgd"] = Field(
        default="adam",
        description="The optimiser: Adam, AdamW, gradient descent, Adagrad, RMSprop, or gradient descent whose mean "
        "weights are what is kept.",
    )
    learning_rate: float = Field(default=7e-4, gt=0, le=1000, description="The highest learning rate, after warm-up.")
    schedule: ScheduleName = Field(default="inverse-sqrt", description="How the learning rate falls after warm-up.")
    warmup: int = Field(default=4000, ge=0, description="Steps in which the learning rate rises from zero.")
    fall_after: int = Field(default=0, ge=0, description="Steps before the learning rate first falls (stairs).")
    fall_every: int = Field(default=1000, ge=1, description="Steps from one fall to the next (stairs).")
    fall_to: float = Field(default=0.5, gt=0, le=1, description="The share that is left after each fall (stairs).")
    falls: list[list[int]] = Field(
        default_factory=list,
        description="Pairs of a step and the length of the run that was planned there (trapezoid): from the first on "
        "the learning rate falls straight to zero, from each further one on to another end; none: in the second half.",
    )
    beta1: float | None = Field(default=None, ge=0, lt=1, description=_own("beta1", "Decay of the mean of gradients"))
    beta2: float | None = Field(
        default=None, ge=0, lt=1, description=_own("beta2", "Decay of the mean of squared gradients")
    )
    epsilon: float | None = Field(
        default=None, gt=0, description=_own("epsilon", "What is added to the root that a step is divided by")
    )
    momentum: float | None = Field(
        default=None, ge=0, lt=1, description=_own("momentum", "Share of a step that the next one keeps")
    )
    nesterov: bool | None = Field(default=None, description=_own("nesterov", "Momentum as Nesterov has it"))
    smoothing: float | None = Field(
        default=None, ge=0, lt=1, description=_own("smoothing", "Decay of the mean of squared gradients")
    )
    centred: bool | None = Field(
        default=None, description=_own("centred", "Divide by the deviation of the gradients, not by their size")
    )
    first_sum: float | None = Field(
        default=None, ge=0, description=_own("first_sum", "What the sum of squared gradients begins with")
    )
    average_from: int | None = Field(
        default=None, ge=1, description=_own("average_from", "The step from which on the weights are averaged")
    )
    average_trigger: int | None = Field(
        default=None,
        ge=0,
        description=_own(
            "average_trigger",
            "Average from the first validation on that is worse than the best of those before the last so many; "
            "0 averages from average_from on",
        ),
    )
    weight_decay: float = Field(
        default=0.0,
        ge=0,
        description="Decay of the weights: by adamw apart from the gradient and of matrices alone, "
        "by the others as L2 in the gradient of every weight.",
    )
    clip: float = Field(default=1.0, ge=0, description="Largest norm of a gradient; 0 clips nothing.")

    @model_validator(mode="before")
    @classmethod
    def _fill_in_own(cls, table: Any) -> Any:
        """Every option of the chosen optimiser has a value, and so is written out; those of others have none."""
        if not isinstance(table, dict):
            return table
        kind = table.get("kind", cls.model_fields["kind"].default)
        return OWN_OPTIONS.get(kind, {}) | table if isinstance(kind, str) else table

    @model_validator(mode="after")
    def _check_own(self) -> "OptimizerOptions":
        own = OWN_OPTIONS[self.kind]
        for name in {name: None for others in OWN_OPTIONS.values() for name in others}:
            if name not in own and getattr(self, name) is not None:
                owners = " and ".join(kind for kind, others in OWN_OPTIONS.items() if name in others)
                raise ValueError(f"{name} belongs to {owners}; {self.kind} has {', '.join(own)}")
        if self.nesterov and not self.momentum:
            raise ValueError("nesterov needs momentum, which is 0")
        if self.average_trigger and self.average_from != OWN_OPTIONS["asgd"]["average_from"]:
            raise ValueError("average_from and average_trigger both say when averaging begins; give one of the two")
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
            raise ValueError("falls has pairs of a step and a later end, and the steps rise from pair to pair")
        return self


class TrainingOptions(Options):
    """Options of all training by gradient: how long, how carefully and where."""

    steps: int = Field(default=20_000, ge=1, description="Updates of the weights in the whole run.")
    accumulate: int = Field(default=1, ge=1, description="Batches whose gradients are summed for one update.")
    pieces: int = Field(
        default=1,
        ge=1,
        le=4096,
        description="Pieces that each batch is cut into, for several processes to share; one leaves a batch whole.",
    )
    sharded: bool = Field(
        default=False,
        description="Let each process keep only its share of the weights, gradients and optimiser, by FSDP2.",
    )
    validate_every: int = Field(default=500, ge=1, description="Steps between validations.")
    save_every: int = Field(default=500, ge=1, description="Steps between checkpoints.")
    keep: int = Field(default=5, ge=1, description="Checkpoints whose weights are kept for averaging.")
    best_by: str = best_by("loss")
    patience: int = Field(default=0, ge=0, description="Stop after so many validations without a best one; 0: never.")
    final: Literal["best", "last", "average"] = Field(
        default="best", description="The weights that remain: the best, the last, or the mean of those kept."
    )
    moving_average: float = Field(
        default=0.0, ge=0, lt=1, description="Decay of a moving average of the weights, which is then judged; 0: none."
    )
    precision: Precision = numbers_in("auto")
    device: str = Field(default="auto", description="Where to train: auto, cpu, cuda or cuda:1.")
    optimizer: OptimizerOptions = Field(default_factory=OptimizerOptions, description="The optimiser.")

    @model_validator(mode="after")
    def _check_averages(self) -> "TrainingOptions":
        if self.moving_average and self.optimizer.kind == "asgd":
            raise ValueError("moving_average does not go with the optimiser asgd, which averages the weights itself")
        if self.sharded and (self.moving_average or self.optimizer.kind == "asgd" or self.final == "average"):
            raise ValueError("sharded weights are not averaged; leave out moving_average, asgd and final = 'average'")
        return self


class MembersTraining(TrainingOptions):
    """Options for training several members of a small model as one stack of tensors."""

    members: int = Field(
        default=1,
        ge=1,
        le=1000,
        description="Models trained side by side, the first with the recipe's seed, each further one with the next; "
        "they answer by their mean, or, about stories, the one with the lowest training error does.",
    )


class CountingOptions(Options):
    """Options of tasks that learn in one pass of counting."""

    save_every: int = Field(default=1000, ge=1, description="Batches counted between checkpoints.")


class UpdatingOptions(Options):
    """Options of tasks with update rules of their own: how often they go through all data."""

    epochs: int = Field(default=5, ge=1, description="How often it goes through all of its training data.")
    save_every: int = Field(default=1000, ge=1, description="Batches between checkpoints.")
    validate_every: int = Field(default=1, ge=1, description="Epochs between validations; the last is always measured.")


class TextTraining(TrainingOptions):
    """Options for training a model that writes text by gradient."""

    batch_tokens: int | None = Field(
        default=None, ge=8, description="Tokens of the longer side in a batch, padding counted; found when not given."
    )
    label_smoothing: float = Field(default=0.1, ge=0, lt=1, description="Share of probability given to all tokens.")


class AnswerTraining(TrainingOptions):
    """Options for training a model that classifies texts or tags words."""

    best_by: str = best_by("accuracy")
    precision: Precision = numbers_in("float32")
