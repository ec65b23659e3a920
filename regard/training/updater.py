"""The loop for tasks that learn by updates of their own, and not by autograd's, for some epochs.

Everything random is a function of (seed, epoch, batch), and a checkpoint holds all the rest.
"""

from typing import Any, Protocol

from regard.protocols import Task, Updates
from regard.training.events import Started, Stepped
from regard.training.options import UpdatingOptions
from regard.training.own_loop import OwnLoop
from regard.training.snapshot import Snapshot

CURVE_POINTS = 1000  # of the training loss, over the whole run


class Updatable(Task, Updates, Protocol):
    """Protocol of tasks with update rules of their own."""


class Updater(OwnLoop[Updatable, UpdatingOptions]):
    """Lets `task` learn for its epochs; the weights of the last one are those that remain."""

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
        # What a finished run needs lies published.
        return Snapshot({} if self.facts.finished else {"state": self.task.state()}, self.facts)
