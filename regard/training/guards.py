"""What intervenes in a run: splitting a batch that does not fit, noticing a loss that explodes, averaging weights."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.hardware.memory import give_back, is_out_of_memory
from regard.protocols import Divisible

Result = TypeVar("Result")
LESSONS = 50  # losses seen before one can be unusual
MOST_ROLLBACKS = 6  # in a row, each halving the learning rate


class Diverged(Exception):
    """The loss is not a number any more, or has exploded."""


@dataclass
class Watchdog:
    """Knows what losses are usual, and raises Diverged when they are so no more.

    A loss is out of bounds when it stands above the running mean by more than ten times the usual deviation and by
    more than half the mean; five such in a row are an explosion, while one odd batch is not, for clipping takes care
    of it. The first losses only teach.
    """

    mean: float = 0.0
    deviation: float = 0.0
    seen: int = 0
    out_of_bounds: int = 0  # in a row

    def check(self, loss: float, gradient_norm: float) -> None:
        if not math.isfinite(loss):
            raise Diverged(f"the loss is {loss}")
        if not math.isfinite(gradient_norm):
            raise Diverged(f"the norm of the gradient is {gradient_norm}")
        above = loss - self.mean
        if self.seen >= LESSONS and above > max(10 * self.deviation, 0.5 * abs(self.mean)):
            self.out_of_bounds += 1
            if self.out_of_bounds == 5:
                raise Diverged(f"the loss exploded from {self.mean:.3g} to {loss:.3g}")
            return
        weight = max(0.02, 1 / (self.seen + 1))
        self.mean += weight * above
        self.deviation += weight * (abs(above) - self.deviation)
        self.seen, self.out_of_bounds = self.seen + 1, 0


class Splitter:
    """Works through batches in one piece each, or, when the memory does not suffice, in as many as it takes.

    `make_room` lets go of what larger pieces had been given. How many pieces there are is part of where a run stands:
    sums over other pieces differ in their last bits.
    """

    def __init__(self, remark: Callable[[str], None], make_room: Callable[[], None]) -> None:
        self.parts, self.remark, self.make_room = 1, remark, make_room

    def run(self, batches: Sequence[Any], begin: Callable[[], None], work: Callable[[Any], Result]) -> list[Result]:
        """The results of `work` on the pieces of the batches; `begin` comes before every try and wipes the last."""
        has_made_room = False
        while True:
            begin()
            try:
                return [work(piece) for batch in batches for piece in self._pieces(batch)]
            except (MemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                rows = max(batch.rows if isinstance(batch, Divisible) else 1 for batch in batches)
            # Outside the except block, where the traceback no longer holds on to the tensors that did not fit.
            if rows <= self.parts and has_made_room:
                raise Fault(
                    "There is too little memory for a single row of a batch; choose a smaller model or a smaller "
                    "data.cleaning.longest."
                )
            self.make_room()
            give_back()
            has_made_room = True
            if rows > self.parts:
                self.parts *= 2
                self.remark(f"out of memory: from here on each batch is worked through in {self.parts} pieces")

    def _pieces(self, batch: Any) -> Sequence[Any]:
        if self.parts == 1 or not isinstance(batch, Divisible):
            return [batch]
        return batch.split(min(self.parts, batch.rows))


class MovingAverage:
    """An exponential moving average of a module's parameters, which can stand in for them for a while."""

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.decay = decay
        self.live: list[Tensor] = list(module.parameters())
        self.names = [name for name, _ in module.named_parameters()]
        self.averaged = [parameter.detach().clone() for parameter in self.live]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """One step of the average; early on it forgets faster, so that the first weights do not linger."""
        decay = min(self.decay, (1 + step) / (10 + step))
        torch._foreach_lerp_(self.averaged, self.live, 1 - decay)

    @contextmanager
    def standing_in(self) -> Iterator[None]:
        """Inside this block the averaged weights are the live ones."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for averaged, live in zip(self.averaged, self.live, strict=True):
            averaged_data = averaged.clone()
            averaged.copy_(live.data)
            live.data.copy_(averaged_data)

    def tensors(self) -> dict[str, Tensor]:
        return dict(zip(self.names, self.averaged, strict=True))

    def load(self, tensors: dict[str, Tensor]) -> None:
        for name, averaged in zip(self.names, self.averaged, strict=True):
            averaged.copy_(tensors[name])
