"""The trainer on a toy: laws, guards, stopping and resuming."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.promises.purity import GlobalChance
from regard.protocols import Better, Loss, Measure, Tally, mean
from regard.training.checkpoint import WEIGHTS, RunFolder, bytes_to_weights
from regard.training.events import Ended, Event, Hurried, Remarked, Replanned, Stepped, Validated
from regard.training.guards import Diverged, Splitter, Watchdog
from regard.training.options import TrainingOptions
from regard.training.pieces import carry_through
from regard.training.snapshot import Validation, named_weights
from regard.training.trainer import Trainer

sys.path.insert(0, str(Path(__file__).parent))
from toy_task import Line, Log, Memory, Rows

OPTIMIZER = {"learning_rate": 0.05, "warmup": 5}


def options(**more: Any) -> TrainingOptions:
    table = {"steps": 40, "validate_every": 10, "save_every": 10, "optimizer": OPTIMIZER} | more
    return check(TrainingOptions, table)


def trainer(task: Line, keeper: Memory, chosen: TrainingOptions, *listeners: Any) -> Trainer:
    def validate() -> Validation:
        losses = [task.measure(batch)["loss"] for batch in task.batches("valid", 99, 0, 0)]
        return Validation({"loss": sum(losses[1:], losses[0])})

    return Trainer(task, chosen, 1, keeper, validate, listeners)


def lower(value: float) -> Measure:
    return Measure.of_value(value, "lower")


def weights(task: Line) -> list[Tensor]:
    return [parameter.detach().clone() for parameter in task.parameters()]


def stop_after(step: int) -> Any:
    return lambda event: "enough" if isinstance(event, Stepped) and event.step == step else None


def test_it_learns() -> None:
    task, log = Line(), Log()
    facts = trainer(task, Memory(), options(steps=600), log).run()
    validations = [event.measures["loss"] for event in log.of(Validated)]
    assert validations[-1] < 0.1 * validations[0]
    assert facts.finished
    assert [event.step for event in log.of(Stepped)] == list(range(1, 601))


OPTIMIZERS: list[dict[str, Any]] = [
    {"kind": "adam", "weight_decay": 0.1},
    {"kind": "adamw", "weight_decay": 0.1},
    {"kind": "sgd", "weight_decay": 0.1},
    {"kind": "sgd", "momentum": 0.9, "nesterov": True},
    {"kind": "adagrad", "weight_decay": 0.1, "first_sum": 0.1},
    {"kind": "rmsprop", "momentum": 0.9, "centred": True},
    {"kind": "asgd", "weight_decay": 0.1, "average_from": 3},
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "extra",
    [{}, {"accumulate": 3}, {"pieces": 3, "accumulate": 2}, {"moving_average": 0.9}, {"final": "average"}]
    + [{"optimizer": OPTIMIZER | optimizer} for optimizer in OPTIMIZERS],
)
def test_resumed_is_never_stopped(extra: dict[str, Any]) -> None:
    whole = Line()
    keeper = Memory()
    chosen = options(steps=24, **extra)
    trainer(whole, keeper, chosen).run()
    for stop in (1, 6, 10, 23):
        other, pieces = Line(), Memory()
        stopped = trainer(other, pieces, chosen, stop_after(stop)).run()
        assert (stopped.step, stopped.finished) == (stop, False)
        again = Line()
        facts = trainer(again, pieces, chosen).run()
        for one, two in zip(weights(whole), weights(again), strict=True):
            assert torch.equal(one, two)
        for one, two in zip(keeper.published[-1].values(), pieces.published[-1].values(), strict=True):
            assert torch.equal(one, two)
        assert facts == keeper.snapshots[-1].facts


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "extra",
    [{}, {"accumulate": 3}, {"pieces": 3}, {"moving_average": 0.9}, {"final": "average"}]
    + [{"optimizer": OPTIMIZER | optimizer} for optimizer in OPTIMIZERS],
)
def test_a_rehearsed_run_is_one_that_was_not_rehearsed(extra: dict[str, Any]) -> None:
    chosen, plain, plain_keeper = options(steps=14, **extra), Line(), Memory()
    trainer(plain, plain_keeper, chosen).run()
    rehearsed, keeper, log, watched = Line(), Memory(), Log(), Log()
    whole = trainer(rehearsed, keeper, chosen, log)
    stop = stop_after(5)
    whole.rehearse(lambda event: watched(event) or stop(event))
    assert [event.step for event in watched.of(Stepped)] == [1, 2, 3, 4, 5]
    assert not log
    assert not keeper.snapshots
    facts = whole.run()
    assert [event.step for event in log.of(Stepped)] == list(range(1, 15))
    for one, two in zip(weights(plain), weights(rehearsed), strict=True):
        assert torch.equal(one, two)
    assert facts == plain_keeper.snapshots[-1].facts


def test_a_rehearsal_that_explodes_only_ends() -> None:
    task, keeper = Line(), Memory()
    before = weights(task)
    chosen = options(optimizer={"kind": "sgd", "learning_rate": 1000.0, "warmup": 0, "schedule": "constant", "clip": 0})
    trainer(task, keeper, chosen).rehearse(lambda event: None)
    for one, two in zip(before, weights(task), strict=True):
        assert torch.equal(one, two)


class Decided:
    """Revises a plan at one step, as a replanner does by the clock."""

    def __init__(self, at: int, changes: dict[str, Any]) -> None:
        self.at, self.changes = at, changes

    def __call__(self, event: Event) -> None:
        pass

    def revise(self, step: int) -> dict[str, Any] | None:
        return self.changes if step == self.at else None


def test_a_plan_may_change_while_a_run_trains() -> None:
    optimizer = OPTIMIZER | {"schedule": "trapezoid", "falls": [[20, 40]]}
    log, task, keeper = Log(), Line(), Memory()
    changing = trainer(task, keeper, options(optimizer=optimizer), log)
    falls = [[20, 40], [25, 30]]
    decided: Any = Decided(25, {"steps": 30, "optimizer.falls": falls})
    changing.follow(changing.options, decided)
    assert changing.run().step == 30
    assert log.of(Replanned) == [Replanned(25, 30)]
    assert log.of(Validated)[-1].step == 30
    plain = Line()
    trainer(plain, Memory(), options(steps=30, optimizer=optimizer | {"falls": falls})).run()
    for one, two in zip(weights(plain), weights(task), strict=True):
        assert torch.equal(one, two)


def test_batches_drawn_from_global_random_numbers_are_an_error_in_tests() -> None:
    """Another thread makes them, and `conftest.py` watches it."""
    task = Line()
    plain = task.batches

    def batches(split: str, seed: int, epoch: int, start: int) -> Iterator[Rows]:
        for batch in plain(split, seed, epoch, start):
            yield Rows(batch.points + torch.randn(4), batch.values)

    task.batches = batches
    with pytest.raises(GlobalChance, match="batches used global random numbers of torch"):
        trainer(task, Memory(), options()).run()


def test_a_finished_run_does_nothing_and_a_longer_one_goes_on() -> None:
    keeper, log = Memory(), Log()
    trainer(Line(), keeper, options()).run()
    trainer(Line(), keeper, options(), log).run()
    assert not log.of(Stepped)
    trainer(Line(), keeper, options(steps=45), log).run()
    assert [event.step for event in log.of(Stepped)] == [41, 42, 43, 44, 45]


def test_the_curve_is_of_the_means_between_its_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight points in 24 steps: each is the mean over the items of three steps. A stop changes none of them."""
    monkeypatch.setattr("regard.training.trainer.CURVE_POINTS", 8)
    log, keeper, pieces = Log(), Memory(), Memory()
    whole = trainer(Line(), keeper, options(steps=24), log).run()
    steps = log.of(Stepped)
    parts = [steps[start : start + 3] for start in range(0, 24, 3)]
    means = [sum(one.loss * one.items for one in part) / sum(one.items for one in part) for part in parts]
    assert [step for step, _ in whole.losses] == list(range(3, 25, 3))
    assert [loss for _, loss in whole.losses] == pytest.approx(means)
    trainer(Line(), pieces, options(steps=24), stop_after(10)).run()
    assert trainer(Line(), pieces, options(steps=24)).run().losses == whole.losses


def test_accumulating_is_one_larger_batch() -> None:
    """Without dropout, seven batches summed for one update equal the epoch as one batch."""
    task = Line(dropout=0.0)
    trainer(task, Memory(), options(steps=1, accumulate=7)).run()
    joined = Line(dropout=0.0)
    batches = list(joined.batches("train", 1, 0, 0))
    one = Rows(torch.cat([b.points for b in batches]), torch.cat([b.values for b in batches]))
    joined.batches = lambda *_: iter([one])
    trainer(joined, Memory(), options(steps=1)).run()
    for mine, other in zip(weights(task), weights(joined), strict=True):
        torch.testing.assert_close(mine, other)


NO_MEMORY = [
    torch.OutOfMemoryError("no more memory"),
    MemoryError(),
    RuntimeError("[enforce fail at alloc_cpu.cpp:113] data. DefaultCPUAllocator: not enough memory: you tried to"),
]


def no_more_than(rows: int, error: Exception = NO_MEMORY[0]) -> Any:
    """Return a memory limit of this many rows."""

    def check(batch: Rows) -> None:
        if batch.rows > rows:
            raise error

    return check


@pytest.mark.parametrize("error", NO_MEMORY, ids=["cuda", "python", "cpu"])
def test_out_of_memory_splits_and_changes_nothing(error: Exception) -> None:
    plain, tight, log = Line(dropout=0.0), Line(dropout=0.0), Log()
    tight.spoil = no_more_than(4, error)
    trainer(plain, Memory(), options()).run()
    trainer(tight, Memory(), options(), log).run()
    for one, two in zip(weights(plain), weights(tight), strict=True):
        torch.testing.assert_close(one, two)
    assert "in 2 parts" in log.of(Remarked)[0].text


def test_resumed_after_a_split_is_never_stopped() -> None:
    """This holds even if memory would suffice by then: the number of pieces decides the last bits."""
    whole, stopped, resumed, keeper = Line(), Line(), Line(), Memory()
    whole.spoil = stopped.spoil = no_more_than(4)
    trainer(whole, Memory(), options()).run()
    trainer(stopped, keeper, options(), stop_after(12)).run()
    assert keeper.snapshots[-1].facts.parts == 4  # ten rows in fours
    trainer(resumed, keeper, options()).run()
    for one, two in zip(weights(whole), weights(resumed), strict=True):
        assert torch.equal(one, two)


def test_an_error_of_another_kind_splits_nothing() -> None:
    task = Line()
    task.spoil = no_more_than(0, RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        trainer(task, Memory(), options()).run()


def test_too_little_memory_for_the_optimiser_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(self: Any) -> None:
        raise NO_MEMORY[2]

    monkeypatch.setattr(torch.optim.Adam, "step", step)
    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    with pytest.raises(
        Fault, match="too little memory for the optimiser, which keeps up to two numbers for each weight"
    ):
        trainer(Line(), Memory(), options()).run()


def test_a_row_that_does_not_fit_ends_the_run() -> None:
    task = Line()

    def never(batch: Rows) -> None:
        raise torch.OutOfMemoryError("no more memory")

    task.spoil = never
    with pytest.raises(Fault, match="too little memory for a single row"):
        trainer(task, Memory(), options()).run()


def test_a_row_is_tried_again_once_there_is_room() -> None:
    """Memory for other shapes is released first; only then is a row too large."""
    freed, tries, batch = [], [], Rows(torch.zeros(1, 2), torch.zeros(1))

    def work() -> list[int]:
        tries.extend(piece.rows for piece in splitter.parts_of(batch))
        if not freed:
            raise torch.OutOfMemoryError("no more memory")
        return [piece.rows for piece in splitter.parts_of(batch)]

    splitter = Splitter(pytest.fail, lambda: freed.append(1))
    assert splitter.run([batch], work) == [1]
    assert (tries, freed, splitter.parts) == ([1, 1], [1], 1)


@pytest.mark.parametrize(("trouble", "times"), [(float("nan"), 1), (float("inf"), 1), (1e4, 5)])
def test_divergence_rolls_back_with_a_smaller_rate(trouble: float, times: int) -> None:
    task, log, keeper, seen = Line(), Log(), Memory(), []

    def spoil(batch: Rows) -> None:
        seen.append(1)
        if 67 - times < len(seen) <= 67:
            batch.points.mul_(trouble)

    task.spoil = spoil
    facts = trainer(task, keeper, options(steps=80), log).run()
    assert facts.step == 80
    assert facts.finished
    assert facts.rate_scale == 0.5
    assert "back to step 60 with the learning rate halved" in log.of(Remarked)[0].text
    assert all(parameter.isfinite().all() for parameter in task.parameters())
    rates = {event.step: event.learning_rate for event in log.of(Stepped)}
    assert rates[70] == pytest.approx(0.5 * 0.05 * (5 / 70) ** 0.5)


def test_an_explosion_is_not_saved() -> None:
    """A loss out of bounds near a checkpoint prevents saving it, so that a good one remains to roll back to."""
    task, log, keeper, seen = Line(), Log(), Memory(), []

    def spoil(batch: Rows) -> None:
        seen.append(1)
        if 67 <= len(seen) <= 71:
            batch.points.mul_(1e4)

    task.spoil = spoil
    trainer(task, keeper, options(steps=80), log).run()
    assert "back to step 60" in log.of(Remarked)[0].text


def test_where_nearly_nothing_is_left_of_a_loss_a_mistake_is_no_explosion() -> None:
    watchdog = Watchdog()
    for step in range(300):
        watchdog.check(0.9**step + 1e-4, 1.0)
    for _ in range(9):
        watchdog.check(0.06, 1.0)
    for _ in range(4):
        watchdog.check(0.6, 1.0)
    with pytest.raises(Diverged, match="exploded from"):
        watchdog.check(0.6, 1.0)


def test_while_batches_get_harder_only_a_loss_above_the_highest_explodes() -> None:
    watchdog = Watchdog()
    for step in range(300):
        watchdog.check(0.9**step + 1e-4, 1.0)
    for _ in range(9):
        watchdog.check(0.6, 1.0, is_harder=True)
    for _ in range(4):
        watchdog.check(3.0, 1.0, is_harder=True)
    with pytest.raises(Diverged, match="exploded from"):
        watchdog.check(3.0, 1.0, is_harder=True)


def test_trained_weights_may_lose_whatever_harder_batches_take() -> None:
    watchdog = Watchdog(began_trained=True)
    for _ in range(100):
        watchdog.check(0.06, 1.0)
    for _ in range(400):
        watchdog.check(0.6, 1.0, is_harder=True)
    for _ in range(4):
        watchdog.check(3.0, 1.0)
    with pytest.raises(Diverged, match="exploded from"):
        watchdog.check(3.0, 1.0)


def test_a_loss_may_rise_for_as_long_as_batches_get_harder(monkeypatch: pytest.MonkeyPatch) -> None:
    class Growing(TrainingOptions):
        @property
        def harder_until(self) -> int:
            return 30

    flags: list[bool] = []
    monkeypatch.setattr(Watchdog, "check", lambda self, *numbers, is_harder: flags.append(is_harder))
    trainer(Line(), Memory(), Growing.model_validate(options().model_dump())).run()
    assert flags == [True] * 30 + [False] * 10


def test_a_jump_of_a_loss_that_is_another_since_a_validation_is_no_explosion() -> None:
    """After the validation at step 60 the losses are a million times larger, as the task announces."""

    class Changing(Line):
        scale, announces = 1.0, True

        def loss(self, batch: Rows, carry: dict[str, Tensor] | None = None) -> Loss:
            loss = super().loss(batch)
            return Loss(loss.total * self.scale, loss.count)

        def adapt(self, step: int, measures: Mapping[str, Measure]) -> bool:
            self.scale = 1e6 if step >= 60 else 1.0
            return step == 60 and self.announces

    task, log = Changing(), Log()
    trainer(task, Memory(), options(steps=80), log).run()
    assert not log.of(Remarked)
    task = Changing()
    task.announces = False
    with pytest.raises(Fault, match="the loss exploded from"):
        trainer(task, Memory(), options(steps=80)).run()


def test_the_carry_comes_back_with_the_next_batch() -> None:
    task, carries = Line(), []

    def loss(batch: Rows, carry: dict[str, Tensor] | None = None) -> Loss:
        carries.append(None if carry is None else int(carry["number"]))
        loss = Line.loss(task, batch)
        loss.carry = {"number": torch.tensor(len(carries))}
        return loss

    task.loss = loss
    keeper = Memory()
    trainer(task, keeper, options(steps=3, accumulate=2)).run()
    assert carries == [None, 1, 2, 3, 4, 5]
    assert keeper.snapshots[-1].tensors["carry"]["number"] == 6


class Remembering(Line):
    """Line whose rows each remember how many batches they have seen, and their points."""

    def __init__(self, ends: bool) -> None:
        super().__init__(dropout=0.0)
        self.double()
        self.carry_ends_with_epoch = ends
        self.seen: list[list[int]] = []

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[Rows]:
        for batch in islice(super().batches(split, seed, epoch, 0), start, 3):
            points = batch.points[:4].double()
            yield Rows(points, batch.values[:4].double())

    def loss(self, batch: Rows, carry: dict[str, Tensor] | None = None) -> Loss:
        self.spoil(batch)
        past = carry or {"sum": torch.zeros_like(batch.points), "age": torch.zeros(batch.rows, dtype=torch.long)}
        self.seen.append(past["age"].tolist())
        states = batch.points + 0.5 * past["sum"]
        error = (self.weight(states) - batch.values).square().sum()
        return Loss(error, batch.rows, carry={"sum": states, "age": past["age"] + 1})


@pytest.mark.parametrize(("ends", "ages"), [(True, [0, 1, 2, 0, 1, 2, 0, 1]), (False, [0, 1, 2, 3, 4, 5, 6, 7])])
def test_what_is_carried_lasts_for_an_epoch_or_for_the_run(ends: bool, ages: list[int]) -> None:
    """An epoch has three batches, so two updates of two batches each cross its end."""
    task = Remembering(ends)
    trainer(task, Memory(), options(steps=4, accumulate=2)).run()
    assert task.seen == [[age] * 4 for age in ages]


def test_each_piece_of_a_batch_is_given_the_rows_that_it_needs() -> None:
    """Four rows in two pieces, and in four, learn the same as in one piece."""
    whole, pieces, keeper = Remembering(ends=True), Remembering(ends=True), Memory()
    for room in (2, 1):
        pieces.spoil = no_more_than(room)
        trainer(pieces, keeper, options(steps=10 // room)).run()
    trainer(whole, Memory(), options(steps=10)).run()
    assert keeper.snapshots[-1].facts.parts == 4
    assert keeper.snapshots[-1].tensors["carry"]["age"].tolist() == [1] * 4
    for one, two in zip(weights(whole), weights(pieces), strict=True):
        torch.testing.assert_close(one, two)


@pytest.mark.parametrize("room", [4, 2])
def test_what_is_carried_survives_a_stop(room: int) -> None:
    def run(keeper: Memory, *listeners: Any) -> Remembering:
        task = Remembering(ends=True)
        task.spoil = no_more_than(room)
        trainer(task, keeper, options(steps=11), *listeners).run()
        return task

    whole = run(Memory())
    for stop in (1, 2, 3, 4):  # the third is the last of an epoch
        keeper = Memory()
        run(keeper, stop_after(stop))
        for one, two in zip(weights(whole), weights(run(keeper)), strict=True):
            assert torch.equal(one, two)


def test_rows_that_do_not_fit_the_batch_they_are_carried_to_are_refused() -> None:
    pieces = Rows(torch.zeros(4, 2), torch.zeros(4)).split(2)
    with pytest.raises(ValueError, match="state is carried for 3 rows to a batch of 4"):
        carry_through(pieces, {"state": torch.zeros(3)}, lambda piece, carry: pytest.fail("it was worked on"))


def test_a_single_number_goes_from_piece_to_piece() -> None:
    pieces = Rows(torch.zeros(4, 2), torch.zeros(4)).split(2)

    def work(piece: Rows, carry: dict[str, Tensor] | None) -> Loss:
        before = carry or {"seen": torch.tensor(0)}
        return Loss(torch.zeros(()), 1, carry={"seen": before["seen"] + piece.rows})

    _, carry = carry_through(pieces, None, work)
    assert carry == {"seen": torch.tensor(4)}


class Tallying(Line):
    """Line that also tallies its large values: a share of the rows, and a tensor for the last step."""

    def loss(self, batch: Rows, carry: dict[str, Tensor] | None = None) -> Loss:
        large = (batch.values[:, 0] > 1).sum()
        return replace(super().loss(batch, carry), tallies={"large": Tally((large, batch.rows), mean)})


def test_tallies_are_summed_over_pieces_told_and_kept_for_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve points in 24 steps; the epoch has seven batches of four to ten rows."""
    monkeypatch.setattr("regard.training.trainer.CURVE_POINTS", 12)
    task, log, keeper, pieces = Tallying(), Log(), Memory(), Memory()
    task.spoil = no_more_than(4)
    facts = trainer(task, keeper, options(steps=24), log).run()
    batches = [batch for epoch in range(4) for batch in task.batches("train", 1, epoch, 0)][:24]
    counted = [(int((batch.values[:, 0] > 1).sum()), batch.rows) for batch in batches]
    assert [event.tallies["large"] for event in log.of(Stepped)] == [right / rows for right, rows in counted]
    expected = [(one[0] + two[0]) / (one[1] + two[1]) for one, two in zip(counted[::2], counted[1::2], strict=True)]
    assert facts.tallies == [(step, {"large": value}) for step, value in zip(range(2, 25, 2), expected, strict=True)]
    stopped, resumed = Tallying(), Tallying()
    stopped.spoil = resumed.spoil = task.spoil
    trainer(stopped, pieces, options(steps=24), stop_after(11)).run()
    assert trainer(resumed, pieces, options(steps=24)).run() == facts


def test_one_odd_batch_is_no_divergence() -> None:
    task, log, seen = Line(), Log(), []

    def spoil(batch: Rows) -> None:
        seen.append(1)
        if len(seen) in (66, 67):
            batch.points.mul_(1e4)

    task.spoil = spoil
    trainer(task, Memory(), options(steps=80), log).run()
    assert not log.of(Remarked)


def test_a_hopeless_run_ends_in_a_sentence() -> None:
    task = Line()
    task.spoil = lambda batch: batch.points.mul_(float("nan"))
    with pytest.raises(Fault, match="Training fails at step 1: the loss is nan, however small"):
        trainer(task, Memory(), options()).run()


class Told(Line):
    """Line whose rows can be quoted."""

    def quote(self, batch: Rows) -> str:
        return f"the point {batch.points[0].tolist()}"


@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_poisoned_batch_is_named_and_its_worst_row_quoted(accumulate: int) -> None:
    """The third batch of the second epoch is the tenth overall, and one of its six rows is poisoned."""
    task = Told()
    plain = task.batches

    def batches(split: str, seed: int, epoch: int, start: int) -> Iterator[Rows]:
        for number, batch in enumerate(plain(split, seed, epoch, start), start + 1):
            if (split, epoch, number) == ("train", 1, 3):
                batch.points[4] = torch.tensor([1.0, 2.0, 3.0, float("nan")])
            yield batch

    task.batches = batches
    with pytest.raises(Fault) as caught:
        trainer(task, Memory(), options(accumulate=accumulate)).run()
    refusal, place = caught.value.sentences
    assert refusal.startswith(f"Training fails at step {10 // accumulate}: the loss is nan, however small")
    named = "batch 3 of epoch 2" if accumulate == 1 else "batch 2 of epoch 2 and batch 3 of epoch 2"
    assert place == f"It fails at {named}; its worst row is the point [1.0, 2.0, 3.0, nan]."


def test_patience_ends_the_run_and_the_best_is_published() -> None:
    values = iter([5.0, 3.0, 4.0, float("nan"), 3.5, 1.0])
    task, keeper, log = Line(), Memory(), Log()
    run = Trainer(
        task, options(steps=100, patience=3), 1, keeper, lambda: Validation({"loss": lower(next(values))}), [log]
    )
    facts = run.run()
    assert (facts.step, facts.best, facts.finished) == (50, 3.0, True)
    assert [event.best for event in log.of(Validated)] == [True, True, False, False, False]
    assert len(keeper.published) == 2


def test_a_mean_of_checkpoints_that_patience_left_no_time_for_is_the_last_weights(tmp_path: Path) -> None:
    """The same holds if someone stopped the run earlier, which leaves an additional checkpoint."""
    values = iter([1.0, 2.0, 0.0] * 2)  # the second of each run ends its patience, and the third belongs to the mean
    chosen = options(steps=100, save_every=50, patience=1, final="average")

    def run(name: str, task: Line, *listeners: Any) -> RunFolder:
        keeper = RunFolder(tmp_path / name, every=50)
        Trainer(task, chosen, 1, keeper, lambda: Validation({"loss": lower(next(values))}), listeners).run()
        return keeper

    whole, stopped = Line(), Line()
    never_stopped = run("whole", whole)
    run("stopped", Line(), stop_after(13))
    resumed = run("stopped", stopped)
    assert never_stopped.steps()[-1] == resumed.steps()[-1] == 20
    for task, keeper in ((whole, never_stopped), (stopped, resumed)):
        published = bytes_to_weights((keeper.folder / WEIGHTS).read_bytes(), "published")
        assert all(torch.equal(published[name], tensor) for name, tensor in named_weights(task).items())
    assert all(torch.equal(one, two) for one, two in zip(weights(whole), weights(stopped), strict=True))


@pytest.mark.parametrize(("better", "best"), [("higher", [1, 1, 0, 1]), ("lower", [1, 0, 0, 0])])
def test_the_measure_says_which_direction_is_better(better: Better, best: list[int]) -> None:
    values = iter([1.0, 2.0, 1.5, 3.0])
    log, chosen = Log(), options(best_by="reward")
    validate = lambda: Validation({"reward": Measure.of_value(next(values), better)})  # noqa: E731
    Trainer(Line(), chosen, 1, Memory(), validate, [log]).run()
    assert [event.best for event in log.of(Validated)] == best


def test_an_unknown_measure_is_refused_with_those_there_are() -> None:
    with pytest.raises(Fault, match="best_by is 'acuracy', but a validation measures loss"):
        trainer(Line(), Memory(), options(best_by="acuracy")).run()


def test_final_weights() -> None:
    """Publish the last, the best, or the mean of those kept; the checkpoint keeps the trained weights."""
    for final in ("last", "best", "average"):
        task, keeper = Line(), Memory()
        trainer(task, keeper, options(final=final, keep=2)).run()
        published = keeper.published[-1]["weight.weight"]
        last = keeper.snapshots[-1].tensors["weights"]["weight.weight"]
        assert torch.equal(task.weight.weight, last)
        assert torch.equal(published, last) == (final != "average")
        if final == "average":
            weights = {s.facts.step: s.tensors["weights"]["weight.weight"] for s in keeper.snapshots}
            torch.testing.assert_close(published, (weights[30] + weights[40]) / 2)


def test_the_moving_average_is_what_is_published() -> None:
    task, keeper = Line(), Memory()
    trainer(task, keeper, options(moving_average=0.9)).run()
    averaged = keeper.snapshots[-1].tensors["average"]["weight.weight"]
    assert torch.equal(keeper.published[-1]["weight.weight"], averaged)
    assert not torch.equal(task.weight.weight, averaged)


def test_the_mean_weights_of_asgd_are_what_is_published() -> None:
    """Publish the mean of all steps, while training continues from the last."""
    task, keeper, seen = Line(), Memory(), []
    watch = lambda event: seen.append(task.weight.weight.detach().clone()) if isinstance(event, Stepped) else None  # noqa: E731
    chosen = options(steps=10, optimizer=OPTIMIZER | {"kind": "asgd"})
    trainer(task, keeper, chosen, watch).run()
    torch.testing.assert_close(keeper.published[-1]["weight.weight"], torch.stack(seen).mean(0))
    assert torch.equal(task.weight.weight, seen[-1])


def averaging(
    values: Sequence[float], task: Line, keeper: Memory, *listeners: Any, steps: int | None = None
) -> Trainer:
    """Return a run with these validations, one a step. It averages once one is worse than one before the last two."""
    optimizer = OPTIMIZER | {"kind": "asgd", "average_trigger": 2}
    chosen = options(steps=steps or len(values), validate_every=1, save_every=3, final="last", optimizer=optimizer)
    trainer = Trainer(
        task, chosen, 1, keeper, lambda: Validation({"loss": lower(values[trainer.facts.step - 1])}), listeners
    )
    return trainer


def test_averaging_begins_where_validations_are_worse_than_long_ago() -> None:
    """The fourth of 5 4 3 6 6 2 is worse than the first, long before it; the mean is that of steps 5 and 6."""
    task, keeper, seen, log = Line(), Memory(), [], Log()
    watch = lambda event: seen.append(task.weight.weight.detach().clone()) if isinstance(event, Stepped) else None  # noqa: E731
    facts = averaging([5, 4, 3, 6, 6, 2], task, keeper, watch, log).run()
    assert facts.averages_from == 5
    assert [event.step for event in log.of(Remarked)] == [4]
    torch.testing.assert_close(keeper.published[-1]["weight.weight"], torch.stack(seen[4:]).mean(0))


def test_averaging_does_not_begin_where_they_get_better_or_are_a_little_worse() -> None:
    assert averaging([5, 4, 3, 3.5, 3.2, 2, 1], Line(), Memory()).run().averages_from is None


@pytest.mark.parametrize("stop", [3, 4, 5, 6, 7])
def test_a_triggered_average_is_resumed_as_if_never_stopped(stop: int) -> None:
    """Stop before, at and after the trigger, at checkpoints and between them."""
    values = [5.0, 4, 3, 6, 6, 2, 3, 1]
    whole, keeper, pieces = Line(), Memory(), Memory()
    averaging(values, whole, keeper).run()
    averaging(values, Line(), pieces, stop_after(stop)).run()
    again = Line()
    facts = averaging(values, again, pieces).run()
    assert facts == keeper.snapshots[-1].facts
    assert all(torch.equal(one, two) for one, two in zip(weights(whole), weights(again), strict=True))
    for name, published in keeper.published[-1].items():
        assert torch.equal(pieces.published[-1][name], published)


def test_a_loss_may_ask_for_another_rate() -> None:
    """Gradient descent at half the rate goes half as far."""
    moves = []
    for rate in (1.0, 0.5):
        task = Line(dropout=0.0)
        plain, before = task.loss, weights(task)
        task.loss = lambda batch, carry=None, plain=plain, rate=rate: replace(plain(batch, carry), rate=rate)
        chosen = options(steps=1, optimizer={"kind": "sgd", "learning_rate": 0.1, "schedule": "constant", "warmup": 0})
        trainer(task, Memory(), chosen).run()
        moves.append([after - old for after, old in zip(weights(task), before, strict=True)])
    torch.testing.assert_close([2 * move for move in moves[1]], moves[0])


class Table(Line):
    """Table of numbers for five words; a batch has a few of them, so gradients are sparse."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Embedding(5, 2, sparse=True)

    def loss(self, batch: Rows, carry: dict[str, Tensor] | None = None) -> Loss:
        words = torch.arange(batch.rows) % 3
        return Loss((self.weight(words) - batch.values).square().sum(), batch.rows)

    def measure(self, batch: Rows) -> dict[str, Measure]:
        return {"loss": lower(self.loss(batch).total.item())}


@pytest.mark.parametrize("kind", ["sgd", "adagrad"])
def test_sparse_gradients_train_and_resume(kind: str) -> None:
    """Two of the five words never occur and keep their bits."""
    chosen = options(steps=12, accumulate=2, optimizer=OPTIMIZER | {"kind": kind})
    whole, stopped, resumed, keeper = Table(), Table(), Table(), Memory()
    before = weights(whole)[0]
    trainer(whole, Memory(), chosen).run()
    trainer(stopped, keeper, chosen, stop_after(5)).run()
    trainer(resumed, keeper, chosen).run()
    assert torch.equal(whole.weight.weight, resumed.weight.weight)
    assert torch.equal(whole.weight.weight[3:], before[3:])
    assert (whole.weight.weight[:3] != before[:3]).all()


def test_sparse_gradients_are_nothing_for_adam() -> None:
    with pytest.raises(Fault, match=r"which cannot use the sparse gradients of this model\. Choose 'sgd' or 'adagrad'"):
        trainer(Table(), Memory(), options()).run()


def test_clipping_bounds_the_step() -> None:
    def first_norm(clip: float) -> tuple[float, Tensor]:
        task, log = Line(dropout=0.0), Log()
        before = weights(task)[0]
        optimizer = OPTIMIZER | {"clip": clip, "epsilon": 1.0}  # a large epsilon makes Adam's step follow the size
        trainer(task, Memory(), options(steps=1, optimizer=optimizer), log).run()
        return log.of(Stepped)[0].gradient_norm, (weights(task)[0] - before).norm()

    (norm, clipped), (same, free) = first_norm(0.1), first_norm(0.0)
    assert norm == same > 0.1
    assert clipped < 0.2 * free


def test_a_stop_before_the_first_validation_leaves_a_model() -> None:
    keeper, log = Memory(), Log()
    trainer(Line(), keeper, options(), stop_after(3), log).run()
    assert len(keeper.published) == 1
    assert log.of(Ended) == [Ended(3, "enough", False)]
    assert [event.step for event in log.of(Validated)] == [3]  # there was time to validate it
    assert keeper.snapshots[-1].facts.validations == []  # not part of the run


def test_in_a_hurry_it_is_left_unvalidated() -> None:
    keeper, log = Memory(), Log()
    hurry = lambda event: Hurried("at once") if isinstance(event, Stepped) and event.step == 3 else None  # noqa: E731
    trainer(Line(), keeper, options(), hurry, log).run()
    assert len(keeper.published) == 1
    assert log.of(Validated) == []


def test_time_that_is_over_at_the_last_validation_does_not_undo_the_end() -> None:
    log = Log()
    late = lambda event: "over" if isinstance(event, Validated) and event.step == 40 else None  # noqa: E731
    assert trainer(Line(), Memory(), options(), late, log).run().finished
    assert log.of(Ended) == [Ended(40, "done", True)]


def test_no_batches_is_said() -> None:
    task = Line()
    task.batches = lambda *_: iter([])
    with pytest.raises(Fault, match="does not fill a single batch"):
        trainer(task, Memory(), options()).run()
