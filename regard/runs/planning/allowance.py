"""The time limit of a command."""

import math
import time
from dataclasses import dataclass, field
from numbers import Real

from regard.base.faults import Fault
from regard.training.replanning import Budget

MARGIN = 0.02  # share of the whole time, for the unforeseen
LEAST_TRAINING = 0.5  # least share for training, of the time left when the data is ready
USUAL_LOADING = 2.0  # seconds
LAST_SECONDS = 4.0  # for the curve and other work after the last validation


def check_minutes(minutes: float | None) -> None:
    """Refuse minutes that are no length of time: a comparison with NaN would never stop a run."""
    if minutes is None:
        return
    if not isinstance(minutes, Real):
        raise Fault(f"--minutes is {minutes!r}, expected a number of minutes.")
    if not 0 <= minutes < math.inf:
        raise Fault(f"--minutes is {minutes:g}, expected a number of minutes.")


@dataclass(frozen=True)
class Allowance:
    """The minutes that a whole command may take, counted from its start.

    A machine that was slow in `loading` the training code will also be slow to load what draws the curve.
    """

    minutes: float
    began: float = field(default_factory=lambda: time.monotonic())
    loading: float = 0.0  # seconds

    @property
    def left(self) -> float:
        """Seconds left."""
        return max(0.0, self.began + 60 * self.minutes - time.monotonic())

    @property
    def budget(self) -> Budget:
        """The time left for steps and validations; at least half is for steps, however long the last validation
        takes.
        """
        whole, now = 60 * self.minutes, time.monotonic()
        end = self.began + (1 - MARGIN) * whole - LAST_SECONDS - max(0.0, self.loading - USUAL_LOADING)
        return Budget(whole, end, now + LEAST_TRAINING * (end - now))

    def __str__(self) -> str:
        return "1 minute" if self.minutes == 1 else f"{self.minutes:g} minutes"
