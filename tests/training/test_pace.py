"""Speed of a run: time counts while weights are trained, and adds up over sessions."""

from pathlib import Path

import pytest
from own_clock import tell_time

from regard.training.events import Ended, Started, Stepped, Validated
from regard.training.pace import PACE, Course, Pace, read_course, read_pace


class Clock:
    """Clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    tell_time(monkeypatch, clock)
    return clock


def stepped(items: int) -> Stepped:
    return Stepped(1, 0, 2.0, items, 1e-3, 1.0)


def test_validations_do_not_count_and_sittings_add_up(tmp_path: Path, clock: Clock) -> None:
    pace = Pace(tmp_path)
    clock.now += 50  # any time before the training
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
    again(Validated(3, {"loss": 1.0}, True, 0))  # saved already, in case the process is killed
    assert read_pace(tmp_path) == (1000, 6.0)


def test_the_course_of_a_run_that_was_stopped_and_went_on(tmp_path: Path, clock: Clock) -> None:
    pace = Pace(tmp_path)
    pace(Started(0, 2300))
    assert course(tmp_path).in_words() == "0 of 2,300 steps in 0.0 minutes: still training, or killed; never validated"
    clock.now += 240
    pace(Stepped(33, 0, 2.0, 300, 1e-3, 1.0))
    pace(Ended(33, "the 4 minutes are over", False))
    assert course(tmp_path).in_words() == "33 of 2,300 steps in 4.0 minutes: the 4 minutes are over; never validated"
    assert course(tmp_path).caution() == (
        "This model has hardly been trained (step 33 of 2,300, never validated), so expect little of it."
    )
    again = Pace(tmp_path)
    again(Started(33, 2300))
    clock.now += 60
    again(Validated(500, {"loss": 1.0}, True, 0))
    assert course(tmp_path).caution() == (
        "This model has hardly been trained (step 500 of 2,300), so expect little of it."
    )
    again(Validated(600, {"loss": 1.0}, True, 0))
    assert course(tmp_path).caution() is None
    again(Validated(700, {"loss": 2.0}, False, 1))
    again(Ended(700, "out of patience", True))
    assert course(tmp_path) == Course(700, 2300, 600, True, 5.0, "out of patience", True)
    assert course(tmp_path).in_words() == "700 of 2,300 steps in 5.0 minutes: out of patience"


def course(folder: Path) -> Course:
    course = read_course(folder)
    assert course is not None
    return course


@pytest.mark.parametrize(
    "content", [None, b'{"items": 3, "seconds": 1.5}', b'{"course": 3}', b'{"course": {"step": 3.5}}']
)
def test_older_folders_have_no_course_and_damaged_ones_none(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / PACE).write_bytes(content)
    assert read_course(tmp_path) is None


@pytest.mark.parametrize("content", [None, b"", b"[]", b'{"items": 3}', b'{"items": "x", "seconds": 1}', b"\xff"])
def test_what_is_missing_or_damaged_is_nothing(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / PACE).write_bytes(content)
    assert read_pace(tmp_path) == (0, 0.0)


def test_a_finished_plan_of_few_steps_is_warned_of(tmp_path: Path, clock: Clock) -> None:
    def cautions(steps: int) -> str | None:
        pace = Pace(tmp_path)
        pace(Started(0, steps))
        pace(Validated(steps, {"loss": 1.0}, True, 0))
        pace(Ended(steps, "done", True))
        return course(tmp_path).caution()

    assert cautions(26) is None  # as many as requested
    (tmp_path / "plan.json").write_text("{}")
    assert cautions(26) == "This model has hardly been trained (step 26 of 26), so expect little of it."
    assert cautions(100) is None


def test_the_course_of_a_run_that_counts_has_no_steps() -> None:
    assert Course(step=7, validated=True, ended="done", finished=True).in_words() == (
        "7 batches counted in 0.0 minutes: done"
    )
    assert Course(step=1, validated=True, ended="done", finished=True).in_words().startswith("1 batch counted")
