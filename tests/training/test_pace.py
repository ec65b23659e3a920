"""How fast a run was: time is counted where the weights are trained, and adds up over its sittings."""

import time
from pathlib import Path

import pytest

from regard.training.events import Ended, Started, Stepped, Validated
from regard.training.pace import PACE, Pace, read_pace


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


def stepped(items: int) -> Stepped:
    return Stepped(1, 0, 2.0, items, 1e-3, 1.0)


def test_validations_do_not_count_and_sittings_add_up(tmp_path: Path, clock: Clock) -> None:
    pace = Pace(tmp_path)
    clock.now += 50  # whatever happens before the training
    pace(Started(0, 4))
    clock.now += 2
    pace(stepped(300))
    clock.now += 40
    pace(Validated(1, {"loss": 1.0}, True, 0))
    clock.now += 3
    pace(stepped(500))
    pace(Ended(2, "done", True))
    assert read_pace(tmp_path) == (800, 5.0)
    again = Pace(tmp_path)
    again(Started(2, 4))
    clock.now += 1
    again(stepped(200))
    again(Validated(3, {"loss": 1.0}, True, 0))  # kept here already, should the process be killed
    assert read_pace(tmp_path) == (1000, 6.0)


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"items": 3}', b'{"items": "x", "seconds": 1}', b"\xff"])
def test_what_is_missing_or_damaged_is_nothing(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / PACE).write_bytes(content)
    assert read_pace(tmp_path) == (0, 0.0)
