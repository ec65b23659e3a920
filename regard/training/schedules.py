"""The course of the learning rate: a factor of its highest value for each step, counted from one."""

import math
from collections.abc import Callable

Schedule = Callable[[int, int, int], float]


def inverse_sqrt(step: int, warmup: int, steps: int) -> float:
    """√(warmup / step) (Vaswani et al. 2017, equation 3, scaled so that its peak is one)."""
    return math.sqrt(max(warmup, 1) / step)


def cosine(step: int, warmup: int, steps: int) -> float:
    """Half a wave of the cosine, from one to zero."""
    return 0.5 * (1 + math.cos(math.pi * _done(step, warmup, steps)))


def linear(step: int, warmup: int, steps: int) -> float:
    """Straight down to zero."""
    return 1 - _done(step, warmup, steps)


def constant(step: int, warmup: int, steps: int) -> float:
    """Always one."""
    return 1.0


def _done(step: int, warmup: int, steps: int) -> float:
    # The last step is still taken with something left, so that it is not wasted.
    return min(1.0, (step - warmup) / max(1, steps - warmup + 1))


SCHEDULES: dict[str, Schedule] = {
    "inverse-sqrt": inverse_sqrt,
    "cosine": cosine,
    "linear": linear,
    "constant": constant,
}


def factor(name: str, step: int, warmup: int, steps: int) -> float:
    """Linear warm-up, then the schedule of that name."""
    return step / warmup if step < warmup else SCHEDULES[name](step, warmup, steps)
