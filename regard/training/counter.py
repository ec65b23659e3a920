"""Training loop for tasks that learn by counting: once through the data, then the model is made from the counts.

A checkpoint holds all counts and the number of batches counted, so a run that was killed and resumed ends with the same
counts as one that was not.
"""

from typing import Any, Protocol

from regard.protocols import Counts, Task
from regard.training.events import Counted, Started
from regard.training.options import CountingOptions
from regard.training.own_loop import OwnLoop
from regard.training.snapshot import Snapshot


class Countable(Task, Counts, Protocol):
    """Protocol of tasks that learn by counting."""


class Counter(OwnLoop[Countable, CountingOptions]):
    """Lets `task` count until its data is used up or a listener asks it to stop; a step is a batch."""

    @property
    def epochs(self) -> int:
        return 1

    def restore(self, snapshot: Snapshot) -> None:
        self.task.resume_counts(snapshot.tensors["counts"])

    def beginning(self) -> Started:
        return Started(self.facts.step, steps=0, unit="batches")

    def learn(self, batch: Any) -> Counted:
        self.task.count(batch)
        return Counted(self.facts.step)

    def finish_epoch(self, is_last: bool) -> None:
        """Make the model from the counts, validate it and publish it."""
        self.task.estimate()
        self.judge()

    def snapshot(self) -> Snapshot:
        # When everything is counted and the model is made, the counts are no longer needed.
        return Snapshot({} if self.facts.finished else {"counts": self.task.counts()}, self.facts)
