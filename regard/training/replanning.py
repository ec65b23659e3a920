"""Fit the length of a run to the available time, again and again while it trains.

A pace measured before the first step may be wrong: a GPU was still warming up, or another program started or ended. So
the learning rate stays at its maximum over the first half of a run, and the remaining time decides where the run ends,
until it ends. Decisions are functions of the step alone (the schedule `trapezoid`), so a run that is resumed, or
trained again by its recipe, reaches the same weights.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from regard.training.events import Event, Replanned, Started, Stepped, Validated
from regard.training.options import TrainingOptions

HOLD = 0.5  # fraction of the training time at the full learning rate; over the rest it falls
EARLIEST_VALIDATION = 0.11  # fraction of the training time
WINDOW = 0.1  # fraction of the whole time over which the pace is measured
LEAST_WINDOW = 0.02  # fraction of the whole time before the pace decides anything
EVERY = 0.02  # fraction of the whole time between two decisions
TOLERANCE = 0.03  # of the remaining steps, or of all while the learning rate is at its maximum
MOST_VALIDATIONS = 8
VALIDATING_SHARE = 0.1  # largest fraction of the time, without the last validation
SAVING_SHARE = 0.05  # largest fraction of the time
CHECKPOINTS = 10  # of a run that averages none
AVERAGED = 80  # checkpoints of a run that averages the last ones
OF_KNOWN_LENGTH = ("cosine", "linear")  # schedules that must know the end of a run from the first step on

Changes = Mapping[str, Any]  # of training options, by names such as optimizer.falls


@dataclass(frozen=True)
class Budget:
    """The time of a run: `whole` seconds, and the `end` by which everything must be done, by the monotonic clock.

    Until `trained` it may take steps even if its last validation is late because of that.
    """

    whole: float
    end: float
    trained: float = 0.0

    def left(self, validation: float, final: str) -> float:
        """Return the seconds left for steps and for validations before the last, each of `validation` seconds."""
        last = 1 if final == "best" else 2  # weights other than the best are validated at the end of the run
        return max(0.0, max(self.end - last * validation, self.trained) - time.monotonic())


def with_changes(options: TrainingOptions, changes: Changes) -> TrainingOptions:
    """Return the options with some of them changed."""
    top_level = {name: value for name, value in changes.items() if "." not in name}
    of_optimizer = {name.partition(".")[2]: value for name, value in changes.items() if "." in name}
    return options.model_copy(update={**top_level, "optimizer": options.optimizer.model_copy(update=of_optimizer)})


def fall_of(steps: int, taken: int = 0) -> list[list[int]]:
    """Return where the learning rate falls in a run of `steps` steps that has taken some of them."""
    return [[max(taken, int(HOLD * steps)), steps]]


def intervals(
    options: TrainingOptions, steps: int, seconds: float, validation: float, saving: float = 0.0
) -> dict[str, int]:
    """Return the steps between validations and checkpoints of a run, by the seconds that each takes."""
    validations = _affordable(VALIDATING_SHARE * seconds, validation, MOST_VALIDATIONS)
    saves = _affordable(SAVING_SHARE * seconds, saving, AVERAGED if options.final == "average" else CHECKPOINTS)
    return {"validate_every": math.ceil(steps / validations), "save_every": max(1, steps // saves)}


def can_average(seconds: float, saving: float) -> bool:
    """Return True if a run of this many seconds can save as often as averaging its last weights needs."""
    return _affordable(SAVING_SHARE * seconds, saving, AVERAGED) == AVERAGED


def _affordable(seconds: float, cost: float, most: int) -> int:
    return max(1, min(most, int(seconds / max(cost, 1e-6))))


class Replanner:
    """Follows how fast a run trains, and decides when it needs more steps or fewer.

    `free` names the options that it may change, `most` is the largest number of steps, `validation` and `saving` are
    the estimated seconds of a validation and of a checkpoint, and `keep` receives each decision before it takes effect.
    """

    def __init__(
        self,
        options: TrainingOptions,
        budget: Budget,
        free: frozenset[str],
        most: int,
        validation: float,
        keep: Callable[[Changes], None],
        saving: float = 0.0,
    ) -> None:
        self.options, self.budget, self.free, self.most = options, budget, free, most
        self.validation, self.keep, self.saving = validation, keep, saving
        self._has_validated = False
        self._busy = 0.0  # seconds without validations
        self._began = self._since = time.monotonic()
        self._marks: deque[tuple[float, int]] = deque()  # busy seconds and steps within the window
        self._heard_step, self._next = False, 0.0

    def __call__(self, event: Event) -> None:
        now = time.monotonic()
        spent, self._since = now - self._since, now
        if isinstance(event, Validated):
            self.validation, self._has_validated = spent, True
        elif isinstance(event, Started):
            self._began = now
            self._marks.append((self._busy, event.step))
        elif not isinstance(event, Replanned):
            self._busy += spent
        if isinstance(event, Stepped):
            self._mark(event.step)
            self._heard_step = True

    def _mark(self, step: int) -> None:
        if self._marks and step <= self._marks[-1][1]:  # the run was rolled back
            self._marks.clear()
        self._marks.append((self._busy, step))
        while len(self._marks) > 2 and self._busy - self._marks[1][0] >= WINDOW * self.budget.whole:
            self._marks.popleft()

    @property
    def seconds_a_step(self) -> float | None:
        """The recent pace, with checkpoints but without validations; None before it can be measured."""
        if len(self._marks) < 2:
            return None
        (first, start), (last, step) = self._marks[0], self._marks[-1]
        return (last - first) / (step - start) if last - first >= LEAST_WINDOW * self.budget.whole else None

    def revise(self, step: int) -> Changes | None:
        """Return the changes after this step, if any."""
        if (changes := self._postponement(step)) is None and (changes := self._fitting(step)) is None:
            return None
        self.options = with_changes(self.options, changes)
        self.keep(changes)
        return changes

    def _postponement(self, step: int) -> Changes | None:
        """Return a later first validation if it would come too early because steps are faster than expected."""
        is_due = not self._has_validated and step == self.options.validate_every and step < self.options.steps
        is_early = time.monotonic() < self._at(EARLIEST_VALIDATION)
        if not (is_due and is_early and self._is_at_height(step) and "validate_every" in self.free):
            return None
        return {"validate_every": step + step // 2 + 1}

    def _fitting(self, step: int) -> Changes | None:
        """Return another length if the time requires it."""
        pace, now = self.seconds_a_step, time.monotonic()
        if pace is None or not self._heard_step or (now < self._next and now < self.budget.end):
            return None
        self._heard_step, self._next = False, now + EVERY * self.budget.whole
        seconds_each = max(pace + self.validation / self.options.validate_every, 1e-9)
        left = self.budget.left(self.validation, self.options.final)
        steps = max(step, min(self.most, step + int(left / seconds_each)))
        is_at_height = self._is_at_height(step)
        ahead = self.options.steps - (0 if is_at_height else step)
        if steps == self.options.steps or (steps > step and abs(steps - self.options.steps) <= TOLERANCE * ahead):
            return None
        changes: dict[str, Any] = {"steps": steps}
        if "optimizer.falls" in self.free and is_at_height:
            until_half = max(0, int((self._at(HOLD) - now) / seconds_each))
            start = min(step + until_half, steps) if steps < self.most else fall_of(steps, step)[0][0]
            changes["optimizer.falls"] = [[start, steps]]
        elif "optimizer.falls" in self.free:
            before = [fall for fall in self.options.optimizer.falls if fall[0] < step]
            changes["optimizer.falls"] = [*before, [step, steps]]
        return changes | (self._intervals(step, steps) if is_at_height else {})

    def _at(self, share: float) -> float:
        """Return the moment when this fraction of the training time is over."""
        return self._began + share * (self.budget.end - self._began)

    def _is_at_height(self, step: int) -> bool:
        """Return True if the learning rate has not fallen yet, or does not fall by a plan."""
        falls = self.options.optimizer.falls if "optimizer.falls" in self.free else []
        return not falls or step <= falls[0][0]

    def _intervals(self, step: int, steps: int) -> dict[str, int]:
        """Return new intervals, if a run that had them from the beginning would be at the same point now."""
        new = intervals(self.options, steps, self.budget.whole, self.validation, self.saving)
        new["validate_every"] = max(new["validate_every"], step + 1)
        if self._has_validated:
            del new["validate_every"]
        is_averaged_later = self.options.keep * new["save_every"] <= steps - step
        if self.options.final != "average" or not is_averaged_later:
            del new["save_every"]
        return {name: value for name, value in new.items() if name in self.free}
