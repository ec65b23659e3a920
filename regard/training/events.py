"""Events of a training run, as listeners receive them.

A listener receives every event and may answer with a sentence that asks the run to stop; it changes nothing itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Started:
    """The run starts or continues after `step` of `steps`, 0 if unknown; `unit` names the items it learns from."""

    step: int
    steps: int
    unit: str = "items"


@dataclass(frozen=True)
class Stepped:
    """The weights were updated up to `step`; `loss` and `tallies` cover everything since the last such event."""

    step: int
    epoch: int
    loss: float
    items: int
    learning_rate: float
    gradient_norm: float | None  # None for tasks with their own updates
    tallies: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Counted:
    """A task that learns by counting has counted another batch, `step` in all."""

    step: int


@dataclass(frozen=True)
class Validated:
    """The measures on the validation data, whether they are the best so far, and a few outputs to look at."""

    step: int
    measures: dict[str, float]
    best: bool
    since_best: int
    samples: list[tuple[str, str, str]] = field(default_factory=list)  # input, output, reference
    details: dict[str, float] = field(default_factory=dict)  # many numbers, for a log rather than for people
    deviations: dict[str, float] = field(default_factory=dict)  # of the measures over the members, if several


@dataclass(frozen=True)
class Remarked:
    """Something users should know: a roll-back, a split batch."""

    step: int
    text: str


@dataclass(frozen=True)
class Replanned:
    """From `step` on the run is planned to have `steps` steps, to fit the available time."""

    step: int
    steps: int


@dataclass(frozen=True)
class Ended:
    """The run stops at `step` for `reason`; it is `finished` if there is nothing to resume."""

    step: int
    reason: str
    finished: bool


class Hurried(str):
    """A reason to stop that leaves no time even for a validation."""


Event = Started | Stepped | Counted | Validated | Remarked | Replanned | Ended
Listener = Callable[[Event], str | None]
