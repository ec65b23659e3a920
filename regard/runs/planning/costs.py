"""Measure the cost of a run on this machine, by taking its first steps and undoing them."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch

from regard.measuring import Validator
from regard.training.events import Event, Hurried, Stepped
from regard.training.sharding import whole_weights
from regard.training.trainer import Trainer

LEAST_EVENTS = 4  # fewest step events; time before the first does not count
MOST_TIMES = 4  # most times the intended seconds, if even a single step takes long


@dataclass(frozen=True)
class Costs:
    """Seconds of a step, of a validation (measuring and writing outputs), and of a checkpoint.

    `items` are learnt per step.
    """

    step: float
    items: float
    measuring: float
    writing: float = 0.0
    saving: float = 0.0

    @property
    def validation(self) -> float:
        return self.measuring + self.writing


class Stopwatch:
    """Listens to the steps of a run and stops it when enough have been timed.

    `aside` returns the seconds spent so far on one-time work, such as capturing passes on a GPU.
    """

    def __init__(self, seconds: float, aside: Callable[[], float] = lambda: 0.0) -> None:
        self.seconds, self.aside = seconds, aside
        self.heard = [(time.monotonic() - aside(), 0, 0)]  # (time without one-time work, step, items of the last step)

    def __call__(self, event: Event) -> str | None:
        if not isinstance(event, Stepped):
            return None
        now = time.monotonic() - self.aside()
        self.heard.append((now, event.step, event.items))
        is_enough = len(self.heard) > LEAST_EVENTS and now - self.heard[1][0] >= self.seconds
        return Hurried("timed") if is_enough or now - self.heard[0][0] >= MOST_TIMES * self.seconds else None

    @property
    def _pairs(self) -> list[tuple[tuple[float, int, int], tuple[float, int, int]]]:
        """Pairs of neighbouring events, without the first step if there are others, because it is the slowest."""
        return list(pairwise(self.heard[1:] if len(self.heard) > 2 else self.heard))

    @property
    def seconds_of_step(self) -> float:
        return max(statistics.median((two[0] - one[0]) / (two[1] - one[1]) for one, two in self._pairs), 1e-6)

    @property
    def items(self) -> float:
        """Items that a step learns from."""
        return statistics.median(two[2] / (two[1] - one[1]) for one, two in self._pairs)


def time_validation(trainer: Trainer, validator: Validator, seconds: float) -> tuple[float, float]:
    """Return the seconds of a validation, for measuring and for writing outputs, each timed for about `seconds`."""
    trainer.module.eval()
    with torch.no_grad(), whole_weights(trainer.module):
        return validator.timed(seconds)


def time_checkpoint(trainer: Trainer) -> float:
    """Return the seconds that a checkpoint takes; it saves the start, so the run can go back to it."""
    began = time.monotonic()
    trainer.save()
    return time.monotonic() - began


def time_steps(trainer: Trainer, seconds: float) -> Stopwatch:
    """Return a stopwatch that has timed the first steps of a run; the steps are undone."""
    watch = Stopwatch(seconds, lambda: trainer.passes.capture_seconds)
    trainer.rehearse(watch)
    return watch
