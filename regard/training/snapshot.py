"""The state of a run at one moment, as a checkpoint holds it, and the protocol of whoever keeps checkpoints."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.protocols import Learns, Measure, Tally, Task
from regard.training.sharding import like


@dataclass
class Facts:
    """The state of a run in plain numbers: what a checkpoint holds besides its tensors."""

    step: int = 0
    epoch: int = 0
    batch: int = 0  # number of batches of the epoch that were consumed
    rate_scale: float = 1.0  # halved by each roll-back
    best: float | None = None
    since_best: int = 0  # validations since the best one
    member_bests: list[float | None] = field(default_factory=list)  # `best` of each member, if there are several
    member_ages: list[int] = field(default_factory=list)
    averages_from: int | None = None  # step from which the weights are averaged, if a validation triggered it
    finished: bool = False
    threads: int | None = None  # torch threads on a CPU: other numbers of them round sums differently
    parts: int = 1  # parts in which each batch is processed for lack of memory
    watchdog: dict[str, Any] = field(default_factory=dict)
    losses: list[tuple[int, float]] = field(default_factory=list)  # each the mean of the steps since the previous one
    rates: list[tuple[int, float]] = field(default_factory=list)  # learning rates at the steps of `losses`
    loss_sum: float = 0.0  # over the steps since the last of `losses`
    loss_items: int = 0  # items that `loss_sum` covers
    tallies: list[tuple[int, dict[str, float]]] = field(default_factory=list)  # at the steps of `losses`, if any
    tally_sums: dict[str, list[float]] = field(default_factory=dict)  # over the steps since the last of `tallies`
    validations: list[tuple[int, dict[str, float]]] = field(default_factory=list)

    def add_loss(self, step: int, total: float, items: int, tallies: dict[str, Tally], every: int, rate: float) -> None:
        """Add the loss and the tallies of a step to the curves, which have a point every `every` steps."""
        self.loss_sum, self.loss_items = self.loss_sum + total, self.loss_items + items
        for name, tally in tallies.items():
            before = self.tally_sums.get(name, [0.0] * len(tally.sums))
            self.tally_sums[name] = [old + float(new) for old, new in zip(before, tally.sums, strict=True)]
        if step % every == 0:
            self.losses.append((step, self.loss_sum / max(self.loss_items, 1)))
            self.rates.append((step, rate))
            self.loss_sum, self.loss_items = 0.0, 0
            whole = {name: replace(tally, sums=tuple(self.tally_sums.pop(name))) for name, tally in tallies.items()}
            if whole:
                self.tallies.append((step, {name: tally.value for name, tally in whole.items()}))

    def add_validation(self, measures: dict[str, Measure], by: str, trigger: int | None = None) -> Measure:
        """Record a validation, and whether averaging begins; return the measure `by` which it is judged."""
        if by not in measures:
            raise Fault(f"training.best_by is '{by}', but a validation measures {', '.join(measures)}.")
        if trigger and self.averages_from is None:
            # The non-monotone trigger (Merity et al. 2018, algorithm 1, where it is called n): worse than long ago.
            long_ago = [values[by] for _, values in self.validations[:-trigger]]
            if any(measures[by].improves(value, measures[by].value) for value in long_ago):
                self.averages_from = self.step + 1
        self.validations.append((self.step, {name: measure.value for name, measure in measures.items()}))
        return measures[by]

    def improve(self, measure: Measure) -> bool:
        """Record a validation, and return True if it is the best so far by this measure."""
        best = measure.improves(measure.value, self.best)
        self.best, self.since_best = (measure.value, 0) if best else (self.best, self.since_best + 1)
        return best


@dataclass
class Snapshot:
    """Everything a run needs to continue: its facts, and tensors in groups (weights, optimizer, average, carry, …)."""

    tensors: dict[str, dict[str, Tensor]]
    facts: Facts


@dataclass
class Validation:
    """Result of a validation: scores as a model folder stores them, and a few outputs to read."""

    measures: dict[str, Measure]
    scores: list[dict[str, Any]] = field(default_factory=list)
    samples: list[tuple[str, str, str]] = field(default_factory=list)  # input, output, reference
    details: dict[str, float] = field(default_factory=dict)  # many numbers, for a log rather than for people
    certainty: bytes | None = None  # the model's usual certainty of its outputs, as a model folder stores it

    @property
    def values(self) -> dict[str, float]:
        """The value of each measure."""
        return {name: measure.value for name, measure in self.measures.items()}

    @property
    def deviations(self) -> dict[str, float]:
        """The standard deviation of each measure over the members, if there are several."""
        return {name: measure.deviation for name, measure in self.measures.items() if len(measure.members) > 1}


class Trainable(Task, Learns, Protocol):
    """Protocol of tasks that the trainer trains; they are torch modules too."""


class Keeper(Protocol):
    """Where a run is kept: checkpoints to continue from, and the published weights for use."""

    def save(self, snapshot: Snapshot) -> None: ...
    def latest(self) -> Snapshot | None: ...
    def publish(self, weights: dict[str, Tensor], validation: Validation | None) -> None: ...
    def average(self, last: int) -> dict[str, Tensor]: ...


def named_weights(module: nn.Module) -> dict[str, Tensor]:
    """Return every parameter and buffer once, under its first name; tied ones count as one."""
    return {name: tensor.detach() for name, tensor in [*module.named_parameters(), *module.named_buffers()]}


@torch.no_grad()
def load_weights(module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Load the weights that `named_weights` returned into the module."""
    for name, weight in named_weights(module).items():
        weight.copy_(like(tensors[name], weight))


def key_of(seed: int, *numbers: int) -> int:
    """Return a seed of 63 bits for one step of one run, or for one piece of it."""
    return int.from_bytes(blake2b(":".join(map(str, (seed, *numbers))).encode(), digest_size=8).digest(), "big") >> 1


def check_weights(task: nn.Module, weights: Mapping[str, Tensor], file: Path) -> None:
    """Refuse weights of a folder that are missing, have another shape, or are not finite."""
    for name, weight in named_weights(task).items():
        if name not in weights:
            raise Fault(f"{file} has no '{name}', which its recipe needs.")
        if weights[name].shape != weight.shape:
            shape, expected = tuple(weights[name].shape), tuple(weight.shape)
            raise Fault(f"'{name}' in {file} has shape {shape}, but its recipe needs {expected}.")
        if not weights[name].is_floating_point() or not _are_finite(weights[name]):
            raise Fault(f"'{name}' in {file} holds a value that is not a finite number.")


def _are_finite(numbers: Tensor) -> bool:
    """Return True if no number is infinite or NaN; the sum, which is ten times as fast, is finite only then."""
    if numbers.dtype in (torch.float32, torch.float64) and bool(numbers.sum().isfinite()):
        return True
    return bool(numbers.isfinite().all())
