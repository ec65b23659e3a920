"""Guards that intervene in a run: they split a batch that does not fit, detect an exploding loss, average weights."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.hardware.memory import give_back, is_out_of_memory
from regard.protocols import Divisible
from regard.training.ranks import ALONE, Ranks
from regard.training.snapshot import named_weights

Result = TypeVar("Result")
LESSONS = 50  # losses seen before one can count as unusual
MOST_ROLLBACKS = 6  # in a row, each halving the learning rate


class Diverged(Exception):
    """The loss is no longer a number, or has exploded."""


@dataclass
class Watchdog:
    """Learns what losses are usual, and raises Diverged when they no longer are.

    A loss is out of bounds when it exceeds the running mean by more than ten times the usual deviation, by more than
    half the mean, and by more than a tenth of what the mean has fallen: when little is left of a loss, one mistake is
    many times the mean. Five such losses in a row are an explosion; a single odd batch is not, since clipping takes
    care of it. The first losses only set the mean. While batches get harder on purpose, a loss is usual up to the
    highest mean, and a run that begins with trained weights has not seen yet how high that is.
    """

    mean: float = 0.0
    highest: float = 0.0  # of all means
    deviation: float = 0.0
    seen: int = 0
    out_of_bounds: int = 0  # in a row
    began_trained: bool = False

    def check(self, loss: float, gradient_norm: float, *, is_harder: bool = False) -> None:
        if not math.isfinite(loss):
            raise Diverged(f"the loss is {loss}")
        if not math.isfinite(gradient_norm):
            raise Diverged(f"the norm of the gradient is {gradient_norm}")
        above = loss - self.mean
        fallen = self.highest - self.mean
        may_rise = (math.inf if self.began_trained else fallen) if is_harder else 0.1 * fallen
        usual = max(10 * self.deviation, 0.5 * abs(self.mean), may_rise)
        if self.seen >= LESSONS and above > usual:
            self.out_of_bounds += 1
            if self.out_of_bounds == 5:
                raise Diverged(f"the loss exploded from {self.mean:.3g} to {loss:.3g}")
            return
        weight = max(0.02, 1 / (self.seen + 1))
        self.mean += weight * above
        self.highest = max(self.highest, self.mean) if self.seen else self.mean
        self.deviation += weight * (abs(above) - self.deviation)
        self.seen, self.out_of_bounds = self.seen + 1, 0


class Splitter:
    """Processes batches whole or, when memory does not suffice, in as many parts as it takes.

    `make_room` releases what larger parts had reserved. The number of parts belongs to the state of a run, because sums
    over different parts differ in their last bits. So if one rank has too little memory, all take smaller parts.
    """

    def __init__(self, remark: Callable[[str], None], make_room: Callable[[], None], ranks: Ranks = ALONE) -> None:
        self.parts, self.remark, self.make_room, self.ranks = 1, remark, make_room, ranks

    def run(self, batches: Sequence[Any], work: Callable[[], Result]) -> Result:
        """Return the result of `work` on these batches, which restarts at every try and uses `parts_of` each."""
        has_made_room = False
        while True:
            too_many, result = 0, None
            try:
                result = work()
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                too_many = max(batch.rows if isinstance(batch, Divisible) else 1 for batch in batches)
            # Outside the except block, where the traceback no longer references the tensors that did not fit.
            rows = max(self.ranks.gather(too_many))
            if not rows:
                return cast(Result, result)
            result = None
            if rows <= self.parts and has_made_room:
                raise Fault(
                    "There is too little memory for a single row of a batch. Choose a smaller model or a smaller "
                    "data.cleaning.longest."
                )
            self.make_room()
            give_back()
            has_made_room = True
            if rows > self.parts:
                self.parts *= 2
                self.remark(f"out of memory: from here on each batch is processed in {self.parts} parts")

    def parts_of(self, batch: Any) -> Sequence[Any]:
        """Return the parts in which a batch is processed."""
        if self.parts == 1 or not isinstance(batch, Divisible):
            return [batch]
        return batch.split(min(self.parts, batch.rows))


class StandIn(ABC):
    """Other weights that can temporarily replace those of a module, such as their mean."""

    @abstractmethod
    def pairs(self) -> list[tuple[Tensor, Tensor]]:
        """Return pairs of another weight and the live weight it replaces."""

    @contextmanager
    def standing_in(self) -> Iterator[None]:
        """Use the other weights as the live ones inside this block."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for other, live in self.pairs():
            saved = other.clone()
            other.copy_(live)
            live.copy_(saved)


class OtherWeights(StandIn):
    """Weights given by name."""

    def __init__(self, module: nn.Module, weights: dict[str, Tensor]) -> None:
        self.live = named_weights(module)
        self.weights = {name: weights[name].to(live, copy=True) for name, live in self.live.items()}

    def pairs(self) -> list[tuple[Tensor, Tensor]]:
        return [(self.weights[name], live) for name, live in self.live.items()]


class OptimizersAverage(StandIn):
    """The mean of the weights that ASGD keeps as part of its state."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer

    def pairs(self) -> list[tuple[Tensor, Tensor]]:
        return [(memory["ax"], live) for live, memory in self.optimizer.state.items()]


class MovingAverage(StandIn):
    """An exponential moving average of a module's parameters."""

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.decay = decay
        self.live: list[Tensor] = list(module.parameters())
        self.names = [name for name, _ in module.named_parameters()]
        self.averaged = [parameter.detach().clone() for parameter in self.live]

    def pairs(self) -> list[tuple[Tensor, Tensor]]:
        return list(zip(self.averaged, self.live, strict=True))

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Update the average; early on it forgets faster, so that the initial weights do not linger."""
        decay = min(self.decay, (1 + step) / (10 + step))
        torch._foreach_lerp_(self.averaged, self.live, 1 - decay)

    def tensors(self) -> dict[str, Tensor]:
        return dict(zip(self.names, self.averaged, strict=True))

    def load(self, tensors: dict[str, Tensor]) -> None:
        for name, averaged in zip(self.names, self.averaged, strict=True):
            averaged.copy_(tensors[name])
