"""Learning rate schedules: a factor on the highest rate for each step, counted from one."""

import math
from collections.abc import Callable

from regard.training.options import OptimizerOptions

Schedule = Callable[[int, OptimizerOptions, int], float]


def inverse_sqrt(step: int, options: OptimizerOptions, steps: int) -> float:
    """√(warmup / step) (Vaswani et al. 2017, equation 3, scaled so that its peak is one)."""
    return math.sqrt(max(options.warmup, 1) / step)


def cosine(step: int, options: OptimizerOptions, steps: int) -> float:
    """Half a cosine wave, from one to zero."""
    return 0.5 * (1 + math.cos(math.pi * _done(step, options, steps)))


def linear(step: int, options: OptimizerOptions, steps: int) -> float:
    """Linear decay to zero."""
    return 1 - _done(step, options, steps)


def constant(step: int, options: OptimizerOptions, steps: int) -> float:
    """Always one."""
    return 1.0


def stairs(step: int, options: OptimizerOptions, steps: int) -> float:
    """One for a while, then repeatedly multiplied by `fall_to` (Zaremba et al. 2014: epoch by epoch)."""
    falls = math.ceil((step - options.fall_after) / options.fall_every)
    return options.fall_to ** max(0, falls)


def trapezoid(step: int, options: OptimizerOptions, steps: int) -> float:
    """One for a while, then a linear decay to zero.

    During the decay the end of the run may be planned again, sooner or later: the decay then continues from the current
    level to the new end. The last end is always that of the run.
    """
    falls = options.falls or [[steps // 2, steps]]
    ends = [*(end for _, end in falls[:-1]), steps]
    level = 1.0
    for (start, _), end, until in zip(falls, ends, [*(start for start, _ in falls[1:]), steps], strict=True):
        level *= max(0.0, 1 - max(0, min(step, until) - start) / max(1, end - start + 1))
        if step <= until:
            break
    # A run that has less time than expected may have to fall before it has risen.
    return min(level, step / options.warmup) if step < options.warmup else level


def _done(step: int, options: OptimizerOptions, steps: int) -> float:
    # The last step still has a rate above zero, so that it is not wasted.
    return min(1.0, (step - options.warmup) / max(1, steps - options.warmup + 1))


SCHEDULES: dict[str, Schedule] = {
    "inverse-sqrt": inverse_sqrt,
    "cosine": cosine,
    "linear": linear,
    "constant": constant,
    "stairs": stairs,
    "trapezoid": trapezoid,
}


def factor(options: OptimizerOptions, step: int, steps: int) -> float:
    """Return the factor: linear warm-up, then the schedule that the options name."""
    if step < options.warmup and options.schedule != "trapezoid":
        return step / options.warmup
    return SCHEDULES[options.schedule](step, options, steps)
