"""What people are told of a run, and who may stop it."""

import io
import os
import signal
from pathlib import Path

import pytest
from rich.console import Console

from regard.training.events import Ended, Event, Remarked, Started, Stepped, Validated
from regard.training.listeners import Bar, Lines, TensorBoard, deadline, interruptions

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
    told = file.getvalue()
    assert "training from step 0 to 10" in told
    assert "step 10/10  loss 2.500  rate 1.0e-03" in told
    assert "validation  loss 2.250  bleu 31.500  (best so far)" in told
    assert "output     b·[31m·c" in told  # what a model writes cannot steer the terminal
    assert "step 10  finished: done" in told


def test_the_bar_tells_the_same() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120, color_system=None)
    bar = Bar(console)
    for event in RUN:
        assert bar(event) is None
    told = console.file.getvalue()
    for words in ("10/10", "loss 2.500", "31.500  best so far", "something [odd] happened", "finished: done"):
        assert words in told


def test_a_deadline_asks_for_a_stop_at_a_step() -> None:
    assert deadline(0)(STEP) == "the 0 minutes are over"
    assert deadline(0)(Started(0, 10)) is None
    assert deadline(1000)(STEP) is None


def test_the_second_interruption_is_not_held_back() -> None:
    with interruptions() as listener:
        assert listener(STEP) is None
        os.kill(os.getpid(), signal.SIGINT)
        assert "interrupted" in (listener(STEP) or "")
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_tensorboard_gets_its_files(tmp_path: Path) -> None:
    board = TensorBoard(tmp_path)
    for event in RUN:
        assert board(event) is None
    assert [path.name.startswith("events") for path in tmp_path.iterdir()] == [True]
