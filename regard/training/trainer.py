"""The trainer: one loop for every task that learns by gradient. It knows no model, no data and no metric.

Everything random is a function of (seed, epoch) or (seed, step), and a checkpoint holds everything else, so a run that
was killed and resumed ends with the same bits as one that was not. Rolling back after a divergence works the same way.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import asdict, replace
from functools import partial
from itertools import islice

import torch
from torch import nn

from regard.protocols import Stacked
from regard.training import optimizers, schedules
from regard.training.events import Ended, Event, Hurried, Listener, Remarked, Replanned, Started
from regard.training.guards import MOST_ROLLBACKS, Diverged, MovingAverage, OptimizersAverage, Splitter, Watchdog
from regard.training.judge import Judge
from regard.training.members import MembersJudge
from regard.training.options import TrainingOptions
from regard.training.passes import Passes
from regard.training.pieces import Gradients
from regard.training.prefetch import prefetch
from regard.training.ranks import ALONE, Ranks
from regard.training.replanning import Replanner, with_changes
from regard.training.sharding import shard
from regard.training.shared_keeper import SharedKeeper
from regard.training.snapshot import Facts, Keeper, Snapshot, Trainable, Validation, load_weights, named_weights
from regard.training.suspects import hopeless
from regard.training.updates import Place, Placed, UnreadUpdate, read_updates, step_event

CURVE_POINTS = 1000  # points of the training loss over the whole run


class Trainer:
    """Trains `task` until its steps are done, its patience runs out, or a listener asks it to stop."""

    def __init__(
        self,
        task: Trainable,
        options: TrainingOptions,
        seed: int,
        keeper: Keeper,
        validate: Callable[[], Validation],
        listeners: Sequence[Listener] = (),
        ranks: Ranks = ALONE,
        begins_trained: bool = False,
    ) -> None:
        if not isinstance(task, nn.Module):
            raise TypeError("a task that learns by gradient must be a torch module")
        self.task, self.options, self.seed = task, options, seed
        self.module: nn.Module = task
        self.keeper, self.listeners, self.ranks = SharedKeeper(keeper, ranks), listeners, ranks
        self.device = next(self.module.parameters()).device
        load_weights(self.module, ranks.share(named_weights(self.module)))
        if sharded := options.sharded and ranks.is_group:
            shard(self.module, ranks)
        self.passes = Passes(task, self.module, options.precision, sharded)
        self.members = task.members if isinstance(task, Stacked) else None
        self.optimizer = optimizers.build(self.module, options.optimizer, is_stacked=self.members is not None)
        self.average = MovingAverage(self.module, options.moving_average) if options.moving_average else None
        stand_in = OptimizersAverage(self.optimizer) if options.optimizer.kind == "asgd" else self.average
        judge = partial(MembersJudge, self.members) if self.members else Judge
        self.judge = judge(self.module, options, self.keeper, validate, stand_in)
        self.splitter = Splitter(lambda text: self._tell(Remarked(self.facts.step, text)), self.passes.forget, ranks)
        self.gradients = Gradients(task, self.passes, options.pieces, seed, ranks, self.splitter)
        self.facts, self.watchdog = Facts(), Watchdog(began_trained=begins_trained)
        self.replanner: Replanner | None = None
        self.stop: str | None = None
        self._asked_to_stop: str | None = None  # by a listener of this rank, which the others may not know yet
        self._unread: list[UnreadUpdate] = []
        self._read_last: Sequence[Place] = ()  # the batches of the last loss that was read
        self._rollbacks, self._failed_at = 0, 0

    def rehearse(self, watch: Listener) -> None:
        """Take steps until `watch` asks to stop, then undo them all; other listeners do not hear of them."""
        before, listeners = deepcopy(self._snapshot()), self.listeners
        self.listeners = [watch]
        with suppress(Diverged), prefetch(self.gradients.stream(self.facts)) as batches:
            while not self._is_stopped():
                self._update(list(islice(batches, self.options.accumulate)))
        self.listeners, self._unread, self._asked_to_stop = listeners, [], None
        self._restore(before)

    def follow(self, options: TrainingOptions, replanner: Replanner | None) -> None:
        """Train by options with another length and other intervals, and by a replanner that may revise them."""
        self.options = self.judge.options = options
        self.replanner, self.listeners = replanner, [*self.listeners, *filter(None, [replanner])]

    def run(self) -> Facts:
        """Train from the last checkpoint, or from the start, to the end or to a stop."""
        snapshot = self.keeper.latest()
        if snapshot is None:
            self.save()  # so that there is always something to roll back to
        else:
            self._restore(snapshot)
        self._tell(Started(self.facts.step, self.options.steps, getattr(self.task, "unit", "items")))
        while not self.facts.finished and not self._is_stopped():
            try:
                self._train_on()
            except Diverged as trouble:
                self._roll_back(trouble)
        ended = "out of patience" if self.judge.is_out_of_patience(self.facts) else "done"
        reason = ended if self.facts.finished else self.stop or ended
        self._tell(Ended(self.facts.step, reason, self.facts.finished))
        return self.facts

    def _train_on(self) -> None:
        with prefetch(self.gradients.stream(self.facts)) as batches:
            while not self._is_stopped() and not self._has_trained():
                self._update(list(islice(batches, self.options.accumulate)))
                self._pause()
        if self.stop is None or (self._has_trained() and not isinstance(self.stop, Hurried)):
            self._finish()
        else:
            self._read_losses()
            hurried = isinstance(self.stop, Hurried)
            if self.facts.best is None and (validated := self.judge.publish_unfinished(self.facts, hurried)):
                self._tell(validated)
            self.save()

    def _update(self, group: list[Placed]) -> None:
        """Update the weights once from a group of batches."""
        facts, options = self.facts, self.options
        facts.step += 1
        self.module.train()
        losses = self.gradients.take(group, facts.step)
        optimizers.check_sparse(self.optimizer, options.optimizer)
        norm = optimizers.scale_gradients(self.module, losses.count, options.optimizer.clip, self.members is not None)
        optimizers.step(self.optimizer, self._learning_rate(facts.step) * losses.rate)
        self.judge.after_step()
        if self.average:
            self.average.update(facts.step)
        facts.epoch, facts.batch = group[-1].place
        self.ranks.note_step(facts.step)
        self._unread.append(UnreadUpdate.of(group, losses.by_piece, norm, self.members or 1))
        # On a GPU reading a number waits for all earlier work, so losses are read only now and then.
        if self.device.type == "cpu" or facts.step % 10 == 0:
            self._read_losses()

    def _learning_rate(self, step: int) -> float:
        options = self.options.optimizer
        return options.learning_rate * schedules.factor(options, step, self.options.steps) * self.facts.rate_scale

    def _read_losses(self) -> None:
        """Read the losses of the updates since the last time; raise Diverged if one is wrong."""
        updates, self._unread = read_updates(self._unread, self.ranks) if self._unread else [], []
        if not updates:
            return
        every = max(1, self.options.steps // CURVE_POINTS)
        for step, update in enumerate(updates, self.facts.step - len(updates) + 1):
            self._read_last, is_harder = update.places, step <= self.options.harder_until
            self.watchdog.check(update.total / max(update.count, 1), update.norm, is_harder=is_harder)
            self.facts.add_loss(step, update.total, update.count, update.tallies, every, self._learning_rate(step))
        self._tell(step_event(updates, self.facts, self._learning_rate(self.facts.step)))

    def _pause(self) -> None:
        """Validate and save between two updates, when it is time."""
        self._replan()
        step, options = self.facts.step, self.options
        if step % options.validate_every == 0 or step == options.steps:
            self._read_losses()
            self._tell(self.judge.judge(self.facts))
            if self.judge.loss_is_another:
                self.watchdog = Watchdog(began_trained=self.watchdog.began_trained)
            self._average_if_triggered()
        if step % options.save_every == 0:
            self._read_losses()
            if not self.watchdog.out_of_bounds:  # a roll-back must not return to what may be an explosion
                self.save()

    def _replan(self) -> None:
        """Follow the plan of the leading rank if it has changed."""
        if self.replanner is None:
            return
        changes, *_ = self.ranks.gather(self.replanner.revise(self.facts.step) if self.ranks.leads else None)
        if changes:
            self.options = self.judge.options = with_changes(self.options, changes)
            self._tell(Replanned(self.facts.step, self.options.steps))

    def _average_if_triggered(self) -> None:
        optimizers.set_averaging(self.optimizer, self.options.optimizer, self.facts.averages_from)
        if self.facts.averages_from == self.facts.step + 1:
            self._tell(Remarked(self.facts.step, "validations stop improving: from here on the weights are averaged"))

    def _is_stopped(self) -> bool:
        """Return True if a listener of any rank has asked to stop; this then holds for all."""
        wishes = self.ranks.gather([self._asked_to_stop, isinstance(self._asked_to_stop, Hurried)])
        self.stop = next((Hurried(text) if hurried else text for text, hurried in wishes if text is not None), None)
        return self.stop is not None

    def _has_trained(self) -> bool:
        return self.facts.step >= self.options.steps or self.judge.is_out_of_patience(self.facts)

    def _finish(self) -> None:
        """Publish the weights that the options ask for, and record that the run is finished."""
        if self.options.final == "average":
            self.save()
        self.judge.publish_final()
        self.facts.finished = True
        self.save()

    def _roll_back(self, trouble: Diverged) -> None:
        failed, scale = self.facts.step, self.facts.rate_scale / 2
        self._rollbacks = self._rollbacks + 1 if failed <= self._failed_at else 1
        self._failed_at = max(failed, self._failed_at)
        snapshot, self._unread = self.keeper.latest(), []
        if snapshot is not None:
            self._restore(snapshot)
        if snapshot is None or self._rollbacks > MOST_ROLLBACKS:
            sentence = f"Training fails at step {failed}: {trouble}, however small the learning rate. Check the data."
            raise hopeless(sentence, self.task, self.seed, self._read_last)
        self.facts.rate_scale = scale
        self._tell(Remarked(failed, f"{trouble}; back to step {self.facts.step} with the learning rate halved"))

    def save(self) -> None:
        self.keeper.save(self._snapshot())

    def _snapshot(self) -> Snapshot:
        self.facts.watchdog, self.facts.parts = asdict(self.watchdog), self.splitter.parts
        self.facts.threads = torch.get_num_threads() if self.device.type == "cpu" else None
        tensors = {"weights": named_weights(self.module), "optimizer": optimizers.state_tensors(self.optimizer)}
        if self.average:
            tensors["average"] = self.average.tensors()
        if carried := self.gradients.carried():
            tensors["carry"] = carried
        if best := self.judge.before_save():
            tensors["best"] = best
        return Snapshot(tensors, self.facts)

    def _restore(self, snapshot: Snapshot) -> None:
        self.facts, self.watchdog = replace(snapshot.facts), Watchdog(**snapshot.facts.watchdog)
        # A finished run continues if its recipe now ends later.
        self.facts.finished &= self._has_trained()
        self.splitter.parts = self.facts.parts
        load_weights(self.module, snapshot.tensors["weights"])
        optimizers.load_state_tensors(self.optimizer, snapshot.tensors.get("optimizer", {}))
        optimizers.set_averaging(self.optimizer, self.options.optimizer, self.facts.averages_from)
        if self.average:
            self.average.load(snapshot.tensors["average"])
        self.judge.restore(self.facts, snapshot.tensors.get("best", {}))
        self.gradients.resume_carried(snapshot.tensors.get("carry", {}), self.device)

    def _tell(self, event: Event) -> None:
        for listener in self.listeners:
            self._asked_to_stop = listener(event) or self._asked_to_stop
