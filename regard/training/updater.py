"""Training loop for tasks that learn by their own updates, not by autograd, for some epochs.

Everything random is a function of (seed, epoch, batch), and a checkpoint holds everything else.
"""

from typing import Any, Protocol

from regard.protocols import Task, Updates
from regard.training.events import Started, Stepped
from regard.training.options import UpdatingOptions
from regard.training.own_loop import OwnLoop
from regard.training.snapshot import Snapshot

CURVE_POINTS = 1000  # points of the training loss over the whole run


class Updatable(Task, Updates, Protocol):
    """Protocol of tasks with their own update rules."""


class Updater(OwnLoop[Updatable, UpdatingOptions]):
    """Lets `task` learn for its epochs; the weights of the last one remain."""

    @property
    def epochs(self) -> int:
        return self.options.epochs

    @property
    def _steps(self) -> int:
        return self.options.epochs * self.task.length()

    def restore(self, snapshot: Snapshot) -> None:
        self.task.resume_state(snapshot.tensors["state"])

    def beginning(self) -> Started:
        return Started(self.facts.step, self._steps, self.task.unit)

    def learn(self, batch: Any) -> Stepped:
        learnt, facts = self.task.update(batch), self.facts
        every = max(1, self._steps // CURVE_POINTS)
        facts.add_loss(facts.step, learnt.total, learnt.count, {}, every, learnt.learning_rate)
        loss = learnt.total / max(learnt.count, 1)
        return Stepped(facts.step, facts.epoch, loss, learnt.items, learnt.learning_rate, gradient_norm=None)

    def finish_epoch(self, is_last: bool) -> None:
        if is_last or (self.facts.epoch + 1) % self.options.validate_every == 0:
            self.judge()

    def snapshot(self) -> Snapshot:
        # Everything that a finished run needs is published.
        return Snapshot({} if self.facts.finished else {"state": self.task.state()}, self.facts)
