"""Runs whose length follows their pace, on a clock the test moves: they end in time, with the rate decayed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from own_clock import tell_time

from regard.base.recipe import check
from regard.training import schedules
from regard.training.events import Started, Stepped, Validated
from regard.training.options import TrainingOptions
from regard.training.replanning import Budget, Replanner, fall_of, with_changes

WHOLE = 120.0  # seconds
FREE = frozenset({"steps", "validate_every", "save_every", "optimizer.falls"})


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the current time; a test moves it forward."""
    now = [1000.0]
    tell_time(monkeypatch, lambda: now[0])
    return now


@dataclass
class Simulated:
    """The outcome of a simulated run."""

    options: TrainingOptions
    seconds: float = 0.0
    factors: list[float] = field(default_factory=list)  # the learning rate at each step
    kept: list[Any] = field(default_factory=list)
    validations: int = 0


def simulate(
    clock: list[float],
    seconds_a_step: Callable[[float], float],
    planned: int,
    validation: float = 2.0,
    most: int = 10**6,
    **training: Any,
) -> Simulated:
    """Train on a machine with these step times over the run, planned at first for this many steps."""
    optimizer = {"schedule": "trapezoid", "warmup": planned // 10, "falls": fall_of(planned)}
    table = {"steps": planned, "validate_every": -(-planned // 5), "save_every": 10, "optimizer": optimizer} | training
    run = Simulated(check(TrainingOptions, table))
    began = clock[0]
    replanner = Replanner(run.options, Budget(WHOLE, began + WHOLE), FREE, most, validation, run.kept.append)
    replanner(Started(0, planned))
    step = 0
    while step < run.options.steps:
        step += 1
        clock[0] += seconds_a_step(clock[0] - began)
        run.factors.append(schedules.factor(run.options.optimizer, step, run.options.steps))
        replanner(Stepped(step, 0, 1.0, 100, 1e-3, 1.0))
        if changes := replanner.revise(step):
            run.options = with_changes(run.options, changes)
        if step % run.options.validate_every == 0 or step == run.options.steps:
            clock[0] += validation
            run.validations += 1
            replanner(Validated(step, {"loss": 1.0}, True, 0))
    run.seconds = clock[0] - began
    return run


PACES: dict[str, tuple[Callable[[float], float], int]] = {
    "as planned": (lambda now: 0.1, 1100),
    "six times slower at first": (lambda now: 0.084 if now < 8 else 0.014, 1300),
    "planned six times too short": (lambda now: 0.015, 1200),
    "planned six times too long": (lambda now: 0.6, 1100),
    "twice as slow in the middle": (lambda now: 0.1 if now < 40 else 0.2, 1100),
    "twice as slow when the rate falls": (lambda now: 0.1 if now < 80 else 0.2, 1100),
    "twice as fast when the rate falls": (lambda now: 0.1 if now < 80 else 0.05, 1100),
    "now fast, now slow": (lambda now: 0.05 if int(now) % 10 < 5 else 0.3, 1100),
    "one step that hangs": (lambda now: 20.0 if 70 < now < 71 else 0.1, 1100),
    "few slow steps": (lambda now: 7.0, 3),
}


@pytest.mark.parametrize("name", PACES)
def test_a_run_ends_in_time_with_its_rate_come_down(clock: list[float], name: str) -> None:
    pace, planned = PACES[name]
    run = simulate(clock, pace, planned)
    assert 0.9 * WHOLE <= run.seconds <= 1.1 * WHOLE + (1 if name != "few slow steps" else 7)
    assert run.factors[-1] <= 0.1 or run.options.steps < 20
    top = run.factors.index(max(run.factors))
    assert run.factors[top:] == sorted(run.factors[top:], reverse=True)


@pytest.mark.parametrize("name", PACES)
def test_the_options_at_the_end_tell_the_rate_of_every_step(clock: list[float], name: str) -> None:
    """A run from the saved recipe therefore learns at exactly the same rates, to the last bit."""
    run = simulate(clock, *PACES[name])
    final = check(TrainingOptions, run.options.model_dump(exclude_none=True))
    again = [schedules.factor(final.optimizer, step, final.steps) for step in range(1, final.steps + 1)]
    assert again == run.factors


@pytest.mark.parametrize("name", PACES)
def test_what_is_kept_is_what_was_decided(clock: list[float], name: str) -> None:
    run = simulate(clock, *PACES[name])
    assert len(run.kept) <= 55  # at most once every fiftieth of the time
    assert not run.kept or run.kept[-1]["steps"] == run.options.steps


def test_the_rate_stays_at_its_height_for_half_of_the_run(clock: list[float]) -> None:
    run = simulate(clock, PACES["planned six times too short"][0], 1200)
    assert run.options.steps > 6000
    assert run.factors[int(0.49 * run.options.steps)] == 1.0
    assert run.factors[int(0.6 * run.options.steps)] < 0.9


def test_validations_grow_rarer_when_there_are_more_steps_than_planned(clock: list[float]) -> None:
    run = simulate(clock, lambda now: 0.015, planned=1200, validation=3.0)
    assert run.validations <= 8


def test_validations_are_counted_as_long_as_they_turn_out(clock: list[float]) -> None:
    """They are estimated at two seconds and take eight."""
    optimizer = {"schedule": "trapezoid", "falls": fall_of(1100), "warmup": 0}
    chosen = check(TrainingOptions, {"steps": 1100, "validate_every": 200, "optimizer": optimizer})
    end = clock[0] + WHOLE
    replanner, step = Replanner(chosen, Budget(WHOLE, end), FREE, 10**6, 2.0, lambda changes: None), 0
    replanner(Started(0, 1100))
    while step < chosen.steps:
        step, clock[0] = step + 1, clock[0] + 0.1
        replanner(Stepped(step, 0, 1.0, 100, 1e-3, 1.0))
        if changes := replanner.revise(step):
            chosen = with_changes(chosen, changes)
        if step % chosen.validate_every == 0 or step == chosen.steps:
            clock[0] += 8
            replanner(Validated(step, {"loss": 1.0}, True, 0))
    assert 0.9 * WHOLE <= clock[0] - end + WHOLE <= 1.1 * WHOLE


def test_no_more_steps_than_the_recipe_has(clock: list[float]) -> None:
    run = simulate(clock, lambda now: 0.01, planned=1000, most=1500)
    assert run.options.steps == 1500
    assert run.factors[740] == 1.0
    assert run.factors[-1] < 0.01


def test_a_schedule_of_its_own_only_ends_elsewhere(clock: list[float]) -> None:
    run = simulate(clock, lambda now: 0.2, planned=1100, optimizer={"schedule": "constant", "warmup": 0})
    assert 0.9 * WHOLE <= run.seconds <= 1.1 * WHOLE
    assert set(run.factors) == {1.0}


def test_what_someone_set_stays(clock: list[float]) -> None:
    chosen = check(TrainingOptions, {"steps": 1000, "validate_every": 100, "optimizer": {"schedule": "constant"}})
    replanner = Replanner(chosen, Budget(WHOLE, clock[0] + WHOLE), frozenset({"steps"}), 10**6, 1.0, lambda c: None)
    replanner(Started(0, 1000))
    for step in range(1, 60):
        clock[0] += 0.5
        replanner(Stepped(step, 0, 1.0, 100, 1e-3, 1.0))
        if changes := replanner.revise(step):
            assert set(changes) == {"steps"}
            return
    raise AssertionError("a run that is five times too long was not shortened")


def test_a_run_that_went_back_is_timed_again(clock: list[float]) -> None:
    chosen = check(TrainingOptions, {"steps": 1000, "optimizer": {"schedule": "trapezoid", "falls": fall_of(1000)}})
    replanner = Replanner(chosen, Budget(WHOLE, clock[0] + WHOLE), FREE, 10**6, 1.0, lambda changes: None)
    for step in (*range(1, 40), *range(10, 20)):
        clock[0] += 0.5
        replanner(Stepped(step, 0, 1.0, 100, 1e-3, 1.0))
    assert replanner.seconds_a_step == pytest.approx(0.5)
