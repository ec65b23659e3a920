"""Reports about a run, and who may stop it."""

import io
import math
import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from own_clock import tell_time
from rich.console import Console

from regard.training.events import Ended, Event, Remarked, Started, Stepped, Validated
from regard.training.listeners import Bar, Forecast, Lines, Smoother, TensorBoard, deadline, interruptions

STEP = Stepped(10, 0, 2.5, 1000, 1e-3, 0.7)
RUN: list[Event] = [
    Started(0, 10),
    STEP,
    Validated(10, {"loss": 2.25, "bleu": 31.5}, True, 0, [("a", "b\x1b[31m\nc", "d")]),
    Remarked(10, "something [odd] happened"),
    Ended(10, "done", True),
]


def test_lines_tell_everything_on_plain_lines() -> None:
    file = io.StringIO()
    lines = Lines(file)
    for event in RUN:
        assert lines(event) is None
    text = file.getvalue()
    assert "training from step 0 to 10" in text
    assert "step 10/10  loss 2.500  rate 1.0e-03" in text
    assert "validation  loss 2.250  bleu 31.500  (best so far)" in text
    assert "output     b·[31m·c" in text  # model output cannot control the terminal
    assert "step 10  finished: done" in text


def test_a_measure_of_nothing_is_a_dash() -> None:
    file = io.StringIO()
    Lines(file)(Validated(3, {"loss": 1.5, "agreement": math.nan}, False, 0, deviations={"agreement": math.nan}))
    assert "step 3  validation  loss 1.500  agreement –\n" in file.getvalue()


def test_where_every_step_is_validated_a_hundred_of_them_and_the_last_are_told() -> None:
    file = io.StringIO()
    lines = Lines(file)
    lines(Started(0, 1990))
    for step in range(1, 1991):
        lines(Validated(step, {"loss": 1.0}, False, 0))
    steps = [int(line.split()[1]) for line in file.getvalue().splitlines() if "validation" in line]
    assert steps == [*range(1, 1990, 20), 1990]


def test_the_bar_tells_the_same() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120, color_system=None)
    bar = Bar(console)
    for event in RUN:
        assert bar(event) is None
    text = console.file.getvalue()
    for words in ("10/10", "loss 2.500", "31.500  best so far", "something [odd] happened", "finished: done"):
        assert words in text


def test_tallies_and_the_spread_over_members_are_shown() -> None:
    events: list[Event] = [
        Started(0, 10, "glimpses"),
        Stepped(10, 0, 2.5, 1000, 1e-3, 0.7, {"reward": 0.25}),
        Validated(10, {"accuracy": 0.83}, True, 0, deviations={"accuracy": 0.007}),
        Ended(10, "done", True),
    ]
    file = io.StringIO()
    console = Console(file=io.StringIO(), force_terminal=True, width=160, color_system=None)
    lines, bar = Lines(file), Bar(console)
    for event in events:
        lines(event), bar(event)
    assert "step 10/10  loss 2.500  reward 0.250  rate 1.0e-03" in file.getvalue()
    assert "glimpses/s" in file.getvalue()
    assert "validation  accuracy 0.830 ± 0.007" in file.getvalue()
    assert "loss 2.500  reward 0.250" in console.file.getvalue()
    assert "0.830 ± 0.007  best so far" in console.file.getvalue()


def test_the_loss_people_read_is_of_many_batches_counted_in_items() -> None:
    """Losses of 3, 6 and 6 over 100, 300 and 200 items; a value one step old counts 0.98."""
    smoother = Smoother()
    losses = []
    for step, value, items in ((1, 3.0, 100), (2, 6.0, 300), (4, 6.0, 200)):
        smoother.hear(Stepped(step, 0, value, items, 1e-3, 0.7))
        losses.append(smoother.values["loss"])
    assert losses[0] == 3.0
    assert losses[1] == pytest.approx((0.98 * 300 + 1800) / (0.98 * 100 + 300))
    faded = 0.98**2  # two steps at once, as a GPU reports them
    assert losses[2] == pytest.approx((faded * (0.98 * 300 + 1800) + 1200) / (faded * (0.98 * 100 + 300) + 200))


def test_a_run_that_went_back_shows_the_losses_it_has_since() -> None:
    """Sums that fade from step to step would grow without bound when the steps go backwards."""
    smoother = Smoother()
    smoother.hear(Stepped(2020, 0, 800.0, 10, 1e-3, 1.0, {"divergence": 40.0}))
    smoother.hear(Stepped(10, 0, 700.0, 10, 1e-3, 1.0, {"divergence": 4.0}))
    assert smoother.values == {"loss": 700.0, "divergence": 4.0}


def test_the_time_left_of_a_run_that_went_back_counts_the_steps_it_took(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, file = SimpleNamespace(now=1000.0), io.StringIO()
    tell_time(monkeypatch, lambda: clock.now)
    lines = Lines(file)
    lines(Started(0, 200, "items"))
    for seconds, step in ((100, 100), (200, 10), (290, 100)):  # a second a step, with a rest in between
        clock.now = 1000.0 + seconds
        lines(Stepped(step, 0, 1.0, 1, 1e-3, 1.0))
    left = [line.rpartition("  ")[2] for line in file.getvalue().splitlines() if "min left" in line]
    assert left[0] == "1.7 min left"
    assert left[-1] == f"{290 / 191 * 100 / 60:.1f} min left"


def test_how_long_it_will_take_is_said_of_a_run_that_went_back_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, forecast = SimpleNamespace(now=0.0), Forecast()
    tell_time(monkeypatch, lambda: clock.now)
    forecast.hear(Started(0, 100, "items"))
    heard = []
    for seconds, step in ((0, 1), (9, 1), (18, 10)):
        clock.now = float(seconds)
        heard.append(forecast.hear(Stepped(step, 0, 1.0, 1, 1e-3, 1.0)))
    assert heard == [None, None, "90 steps left, about 2 minutes without validations"]


def test_how_long_it_will_take_is_said_once_when_steps_were_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seconds a step: after the first and four more, 95 are left, which take 190 seconds."""
    now = [100.0]
    tell_time(monkeypatch, lambda: now[0])
    file = io.StringIO()
    lines = Lines(file)
    lines(Started(0, 100))
    now[0] += 50  # the first step includes start-up
    for step in range(1, 20):
        lines(Stepped(step, 0, 2.5, 1000, 1e-3, 0.7))
        now[0] += 2
    estimates = [line for line in file.getvalue().splitlines() if "steps left" in line]
    assert estimates == ["step 5  95 steps left, about 3 minutes without validations"]


def test_one_odd_batch_hardly_moves_what_lines_and_bar_show() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120, color_system=None)
    file = io.StringIO()
    for listener in (Lines(file), Bar(console)):
        for event in (Started(0, 11), STEP, Stepped(11, 0, 5.0, 1, 1e-3, 0.7), Ended(11, "done", True)):
            listener(event)
    for text in (file.getvalue(), console.file.getvalue()):
        assert "loss 2.503" in text  # (0.98 · 2,500 + 5) / (0.98 · 1,000 + 1)


def test_a_deadline_asks_for_a_stop_at_a_step() -> None:
    assert deadline(4, seconds=0)(STEP) == "the 4 minutes are over"
    assert deadline(1, seconds=0)(STEP) == "the minute is over"
    assert deadline(4, seconds=0)(Started(0, 10)) is None
    assert deadline(4, seconds=1000)(STEP) is None


def test_the_second_interruption_is_not_held_back() -> None:
    with interruptions() as listener:
        assert listener(STEP) is None
        os.kill(os.getpid(), signal.SIGINT)
        assert "interrupted" in (listener(STEP) or "")
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_tensorboard_gets_the_tallies_beside_the_loss(tmp_path: Path) -> None:
    board, logged = TensorBoard(tmp_path), {}
    board.writer = SimpleNamespace(add_scalar=lambda name, value, step: logged.update({name: value}))
    board(Stepped(1, 0, 3.0, 100, 1e-3, 0.7, {"reward": 0.5}))
    board(Stepped(2, 0, 3.0, 100, 1e-3, 0.7, {"reward": 0.25}))
    assert logged["training/reward"] == pytest.approx((0.98 * 50 + 25) / 198)
    assert logged["training/reward unsmoothed"] == 0.25


def test_tensorboard_gets_its_files(tmp_path: Path) -> None:
    board = TensorBoard(tmp_path)
    for event in RUN:
        assert board(event) is None
    (events,) = tmp_path.iterdir()
    assert events.name.startswith("events")
    for name in (b"training/loss", b"training/loss unsmoothed", b"training/learning rate"):
        assert name in events.read_bytes()
