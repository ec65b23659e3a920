"""The minutes that a command may take."""

import time
from dataclasses import dataclass, field

from regard.training.replanning import Budget

MARGIN = 0.02  # of all the time, for what cannot be foreseen
LEAST_TRAINING = 0.5  # of what is left when the data is ready
USUAL_LOADING = 2.0  # seconds
LAST_SECONDS = 4.0  # for the curve and all else that comes after the last validation


@dataclass(frozen=True)
class Allowance:
    """The minutes that a whole command may take, counted from its beginning.

    A machine that took long for `loading` what trains will take as much longer to load what draws the curve.
    """

    minutes: float
    began: float = field(default_factory=lambda: time.monotonic())
    loading: float = 0.0  # seconds

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.began + 60 * self.minutes - time.monotonic())

    @property
    def budget(self) -> Budget:
        """The time that is left for steps and validations; half of it is for steps, however long the last one takes."""
        whole, now = 60 * self.minutes, time.monotonic()
        end = self.began + (1 - MARGIN) * whole - LAST_SECONDS - max(0.0, self.loading - USUAL_LOADING)
        return Budget(whole, end, now + LEAST_TRAINING * (end - now))

    def __str__(self) -> str:
        return "1 minute" if self.minutes == 1 else f"{self.minutes:g} minutes"
