"""Shared by the loops other than the trainer's: for tasks that count, and for tasks with their own updates.

A checkpoint holds what was learnt so far, the epoch and its number of batches, so a run that was killed and resumed
ends like one that was not.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import torch

from regard.base.faults import Fault
from regard.protocols import OwnWeights, Task
from regard.training.events import Counted, Ended, Event, Listener, Started, Stepped, Validated
from regard.training.prefetch import prefetch
from regard.training.snapshot import Facts, Keeper, Snapshot, Validation


class Learner(Task, OwnWeights, Protocol):
    """Protocol of the tasks of such loops."""


class SavingOptions(Protocol):
    """Options that every such loop reads."""

    @property
    def save_every(self) -> int: ...


AnyLearner = TypeVar("AnyLearner", bound=Learner)
AnyOptions = TypeVar("AnyOptions", bound=SavingOptions)


class OwnLoop(ABC, Generic[AnyLearner, AnyOptions]):
    """Lets `task` learn from batches until its epochs are over or a listener asks it to stop.

    A step is a batch.
    """

    def __init__(
        self,
        task: AnyLearner,
        options: AnyOptions,
        seed: int,
        keeper: Keeper,
        validate: Callable[[], Validation],
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.task, self.options, self.seed = task, options, seed
        self.keeper, self.validate, self.listeners = keeper, validate, listeners
        self.facts = Facts()
        self.stop: str | None = None

    @property
    @abstractmethod
    def epochs(self) -> int:
        """Number of passes through the data."""

    @abstractmethod
    def restore(self, snapshot: Snapshot) -> None:
        """Restore what the task had learnt when a checkpoint was saved."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Return the current state of the run."""

    @abstractmethod
    def beginning(self) -> Started:
        """Return the first event for listeners."""

    @abstractmethod
    def learn(self, batch: Any) -> Counted | Stepped:
        """Learn from a batch, and return the event for listeners."""

    @abstractmethod
    def finish_epoch(self, is_last: bool) -> None:
        """Finish a pass through the data."""

    def run(self) -> Facts:
        """Learn from the last checkpoint, or from the start, to the end or to a stop."""
        if (snapshot := self.keeper.latest()) is not None:
            self.facts = replace(snapshot.facts)
            if not self.facts.finished:
                self.restore(snapshot)
        self._tell(self.beginning())
        while not self.facts.finished and self.stop is None:
            self._go_through()
        self._tell(Ended(self.facts.step, self.stop or "done", self.facts.finished))
        return self.facts

    def _go_through(self) -> None:
        """Go through the data once, or through the rest of it."""
        facts = self.facts
        with prefetch(self.task.batches("train", self.seed, facts.epoch, facts.batch)) as batches:
            for batch in batches:
                facts.batch += 1
                facts.step += 1
                self._tell(self.learn(batch))
                if facts.batch % self.options.save_every == 0:
                    self._save()
                if self.stop is not None:
                    self._save()
                    return
        if facts.batch == 0:
            raise Fault("The training data does not fill a single batch.")
        is_last = facts.epoch + 1 == self.epochs
        self.finish_epoch(is_last)
        facts.finished = is_last
        if not is_last:
            facts.epoch, facts.batch = facts.epoch + 1, 0
        self._save()

    def judge(self) -> None:
        """Validate the model as it is, and publish it."""
        with torch.no_grad():
            validation = self.validate()
        self.keeper.publish(self.task.weights(), validation)
        if not validation.measures:
            return  # there is no validation data
        self.facts.validations.append((self.facts.step, validation.values))
        is_best = self.facts.improve(next(iter(validation.measures.values())))
        self._tell(
            Validated(
                self.facts.step,
                validation.values,
                is_best,
                self.facts.since_best,
                validation.samples,
                validation.details,
            )
        )

    def _save(self) -> None:
        self.keeper.save(self.snapshot())

    def _tell(self, event: Event) -> None:
        for listener in self.listeners:
            self.stop = listener(event) or self.stop
