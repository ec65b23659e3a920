"""The loop for tasks that learn by counting: once through the data, then the model is made of the counts.

A checkpoint holds all that was counted and how many batches that was, so a run that was killed and resumed ends with
the same counts as one that was not.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

import torch

from regard.base.faults import Fault
from regard.protocols import Counts, Task
from regard.training.events import Counted, Ended, Event, Listener, Started, Validated
from regard.training.options import CountingOptions
from regard.training.prefetch import prefetch
from regard.training.snapshot import Facts, Keeper, Snapshot, Validation


class Countable(Task, Counts, Protocol):
    """What the counter asks of a task."""


class Counter:
    """Lets `task` count until its data is over or a listener asks it to stop; a step is a batch."""

    def __init__(
        self,
        task: Countable,
        options: CountingOptions,
        seed: int,
        keeper: Keeper,
        validate: Callable[[], Validation],
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.task, self.options, self.seed = task, options, seed
        self.keeper, self.validate, self.listeners = keeper, validate, listeners
        self.facts = Facts()
        self.stop: str | None = None

    def run(self) -> Facts:
        """Count on from the last checkpoint, or from the start, to the end or to a stop."""
        if (snapshot := self.keeper.latest()) is not None:
            self.facts = replace(snapshot.facts)
            if not self.facts.finished:
                self.task.resume_counts(snapshot.tensors["counts"])
        self._tell(Started(self.facts.step, steps=0, unit="batches"))
        if not self.facts.finished:
            self._count_on()
        self._tell(Ended(self.facts.step, self.stop or "done", self.facts.finished))
        return self.facts

    def _count_on(self) -> None:
        with prefetch(self.task.batches("train", self.seed, 0, self.facts.batch)) as batches:
            for batch in batches:
                self._count(batch)
                if self.stop is not None:
                    break
        if self.facts.batch == 0:
            raise Fault("The training data has not a single batch.")
        if self.stop is None:
            self._finish()
        else:
            self._save()

    def _count(self, batch: Any) -> None:
        self.task.count(batch)
        self.facts.batch += 1
        self.facts.step = self.facts.batch
        self._tell(Counted(self.facts.step))
        if self.facts.batch % self.options.save_every == 0:
            self._save()

    def _finish(self) -> None:
        """Make the model of what was counted, validate it and publish it."""
        self.task.estimate()
        with torch.no_grad():
            validation = self.validate()
        self.keeper.publish(self.task.weights(), validation)
        self.facts.validations.append((self.facts.step, validation.values))
        self._tell(Validated(self.facts.step, validation.values, True, 0, validation.samples, validation.details))
        self.facts.finished = True
        self.keeper.save(Snapshot({}, self.facts))  # whose counts nobody needs any more

    def _save(self) -> None:
        self.keeper.save(Snapshot({"counts": self.task.counts()}, self.facts))

    def _tell(self, event: Event) -> None:
        for listener in self.listeners:
            self.stop = listener(event) or self.stop
