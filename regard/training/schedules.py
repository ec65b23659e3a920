"""The course of the learning rate: a factor of its highest value for each step, counted from one."""

import math
from collections.abc import Callable

from regard.training.options import OptimizerOptions

Schedule = Callable[[int, OptimizerOptions, int], float]


def inverse_sqrt(step: int, options: OptimizerOptions, steps: int) -> float:
    """√(warmup / step) (Vaswani et al. 2017, equation 3, scaled so that its peak is one)."""
    return math.sqrt(max(options.warmup, 1) / step)


def cosine(step: int, options: OptimizerOptions, steps: int) -> float:
    """Half a wave of the cosine, from one to zero."""
    return 0.5 * (1 + math.cos(math.pi * _done(step, options, steps)))


def linear(step: int, options: OptimizerOptions, steps: int) -> float:
    """Straight down to zero."""
    return 1 - _done(step, options, steps)


def constant(step: int, options: OptimizerOptions, steps: int) -> float:
    """Always one."""
    return 1.0


def stairs(step: int, options: OptimizerOptions, steps: int) -> float:
    """One for a while, then a share of it, and again a share of that (Zaremba et al. 2014: epoch by epoch)."""
    falls = math.ceil((step - options.fall_after) / options.fall_every)
    return options.fall_to ** max(0, falls)


def _done(step: int, options: OptimizerOptions, steps: int) -> float:
    # The last step is still taken with something left, so that it is not wasted.
    return min(1.0, (step - options.warmup) / max(1, steps - options.warmup + 1))


SCHEDULES: dict[str, Schedule] = {
    "inverse-sqrt": inverse_sqrt,
    "cosine": cosine,
    "linear": linear,
    "constant": constant,
    "stairs": stairs,
}


def factor(options: OptimizerOptions, step: int, steps: int) -> float:
    """Linear warm-up, then the schedule that the options name."""
    return step / options.warmup if step < options.warmup else SCHEDULES[options.schedule](step, options, steps)
