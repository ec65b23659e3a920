"""A clock that training steps move, for runs planned for some time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from own_clock import tell_time

from regard.measuring import Validator
from regard.training.judge import Judge
from regard.training.snapshot import Validation
from regard.training.trainer import Trainer
from regard.verbs.caption.validation import CaptionValidator
from regard.verbs.translate.validation import TranslationValidator


class Killed(BaseException):
    """The process ends without notice."""


@dataclass
class Machine:
    """A machine whose steps take `step` of the time so far, and whose validations take fixed seconds.

    Nothing else takes any time. `taken` has the numbers of the steps, including undone ones. The machine is switched
    off after a set number of steps.
    """

    step: Callable[[float], float] = lambda seconds: 1.0
    validation: float = 2.0
    off_after: int | None = None
    began: float = 1000.0
    now: float = 1000.0
    taken: list[int] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Return the time so far."""
        return self.now - self.began


def pretend(monkeypatch: pytest.MonkeyPatch, machine: Machine) -> Machine:
    """Time everything in this thread by this machine."""
    plain_update, plain_validation = Trainer._update, Judge.validation

    def update(trainer: Trainer, group: list[Any]) -> None:
        if machine.off_after == len(machine.taken):
            raise Killed
        machine.now += machine.step(machine.seconds)
        machine.taken.append(trainer.facts.step + 1)
        plain_update(trainer, group)

    def validation(judge: Judge) -> Validation:
        machine.now += machine.validation
        return plain_validation(judge)

    tell_time(monkeypatch, lambda: machine.now)
    monkeypatch.setattr(Trainer, "_update", update)
    monkeypatch.setattr(Judge, "validation", validation)
    for kind in (Validator, TranslationValidator, CaptionValidator):
        monkeypatch.setattr(kind, "timed", lambda self, most: (machine.validation, 0.0))
    return machine
