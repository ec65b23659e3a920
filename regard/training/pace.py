"""Pace of a run over all its sessions: how fast, how far and how long it trained, and how it ended."""

import json
import time
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.files import write_file
from regard.base.parsing import parse_json
from regard.training.events import Ended, Event, Replanned, Started, Stepped, Validated

PACE = "pace.json"  # in the folder training of a run
PLAN = "plan.json"  # next to it, for a run that was planned to fit a time
FEW_STEPS = 100  # steps that teach next to nothing
HARDLY = 0.25  # fraction of its steps before which a run counts as hardly trained


@dataclass(frozen=True)
class Course:
    """Progress of a run and how it ended; `best` is the step of the weights in the model folder."""

    step: int = 0
    steps: int = 0
    best: int = 0
    validated: bool = False
    minutes: float = 0.0  # including validations
    ended: str = ""  # empty while it trains, and if it was killed
    finished: bool = False
    planned: bool = False  # True if it was planned to fit a time

    def in_words(self) -> str:
        """Describe the course to users, on one line."""
        how = self.ended or "still training, or killed"
        unvalidated = "" if self.validated else "; never validated"
        counted = f"{quantity(self.step, 'batch', 'batches')} counted"
        far = f"{self.step:,} of {self.steps:,} steps" if self.steps else counted
        return f"{far} in {self.minutes:.1f} minutes: {how}{unvalidated}"

    def caution(self) -> str | None:
        """Return a warning if the model has hardly been trained."""
        is_enough = not (self.planned and self.steps < FEW_STEPS)
        if is_enough and (self.finished or (self.validated and self.best >= HARDLY * self.steps)):
            return None
        step = f"step {self.best:,} of {self.steps:,}{'' if self.validated else ', never validated'}"
        return f"This model has hardly been trained ({step}), so expect little of it."


class Pace:
    """Counts the items a run has learnt from and the seconds this took, without validations.

    They are stored in a file with the course of the run, so that a resumed run adds to them.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / PACE
        self.items, self.seconds = read_pace(folder)
        self.plan, self.course = folder / PLAN, read_course(folder) or Course()
        self._since = time.monotonic()

    def __call__(self, event: Event) -> None:
        now = time.monotonic()
        spent = 0.0 if isinstance(event, Started) else now - self._since
        if isinstance(event, Stepped):
            self.items, self.seconds = self.items + event.items, self.seconds + spent
        self.course = _follow(replace(self.course, minutes=self.course.minutes + spent / 60), event)
        if isinstance(event, Started | Validated | Ended):
            self.course = replace(self.course, planned=self.plan.is_file())
            record = {"items": self.items, "seconds": self.seconds, "course": asdict(self.course)}
            write_file(self.path, json.dumps(record).encode())
        self._since = time.monotonic()


def _follow(course: Course, event: Event) -> Course:
    """Return the course after an event."""
    match event:
        case Started(step, steps):
            return replace(course, step=step, steps=steps, ended="", finished=False)
        case Replanned(step, steps):
            return replace(course, step=step, steps=steps)
        case Validated(step, _, is_best):
            return replace(course, step=step, validated=True, best=step if is_best else course.best)
        case Ended(step, reason, finished):
            best = course.best if course.validated else step
            return replace(course, step=step, ended=reason, finished=finished, best=best)
    return replace(course, step=event.step)


def read_pace(folder: Path) -> tuple[int, float]:
    """Return the items and seconds stored in a folder, or zeros."""
    try:
        record = _read_kept(folder)
        return int(record["items"]), float(record["seconds"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, Fault):
        return 0, 0.0


def read_course(folder: Path) -> Course | None:
    """Return the course of the run stored in a folder, or None, as for runs of older versions."""
    try:
        course = Course(**_read_kept(folder)["course"])
    except (OSError, ValueError, KeyError, TypeError, Fault):
        return None
    pairs = zip(astuple(course), astuple(Course()), strict=True)
    return course if all(type(value) is type(default) for value, default in pairs) else None


def _read_kept(folder: Path) -> Any:
    return parse_json((folder / PACE).read_bytes(), PACE)
