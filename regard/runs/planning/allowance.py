"""The minutes that a command may take."""

import time
from dataclasses import dataclass, field

from regard.training.replanning import Budget

MARGIN = 0.02  # of all the time, for what cannot be foreseen
LAST_SECONDS = 4.0  # for the curve and all else that comes after the last validation


@dataclass(frozen=True)
class Allowance:
    """The minutes that a whole command may take, counted from its beginning."""

    minutes: float
    began: float = field(default_factory=lambda: time.monotonic())

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.began + 60 * self.minutes - time.monotonic())

    @property
    def budget(self) -> Budget:
        """The time of all steps and validations."""
        whole = 60 * self.minutes
        return Budget(whole, self.began + (1 - MARGIN) * whole - LAST_SECONDS)

    def __str__(self) -> str:
        return "1 minute" if self.minutes == 1 else f"{self.minutes:g} minutes"
