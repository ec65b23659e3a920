"""Steps in a process of their own: what runs before a step, what it shows as it comes, failing, and being killed."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from paged_lessons import make_material

from regard.base.faults import Fault
from regard.course.sources import Lesson, read_lesson
from regard.course.workbench import MOST_PICTURES, MOST_TEXT, Values, Workbench
from regard.course.worker import last_line

CODE = """# %% first
width = 3  # set: 1 to 8
numbers = [width]
print("first", width)

# %% second
numbers.append(2)
print("second", numbers)

# %% fails
depth = 1  # set: 0 to 4
print("before", 1 // depth)

# %% leaves
import sys

sys.exit(3)

# %% dies
import os

print("dying", flush=True)
os.kill(os.getpid(), 9)

# %% endless
import subprocess, time

child = subprocess.Popen(["sleep", "600"])
print(child.pid, flush=True)
time.sleep(600)

# %% children
import os, subprocess, sys

print("in Python", flush=True)
child = "print('10 %\\\\r20 %', flush=True); import sys; print('warned', file=sys.stderr)"
ended = subprocess.run([sys.executable, "-c", child])
first = os.write(1, "é".encode()[:1])
second = os.write(1, "é".encode()[1:])
print("; in the end")

# %% floods
print("x" * 100_000)
print("y" * 200_000)

# %% draws
from PIL import Image
from regard.course import picture

Image.new("RGB", (40, 30), "teal").save("drawn.png")
for _ in range(30):
    picture("drawn.png")
print("after")

# %% halves
print("half \\udcff")
raise ValueError("half \\udcff")

# %% asks
print(input("name? "))
"""
Runs = Callable[..., dict[str, Any]]


@pytest.fixture
def lesson(tmp_path: Path) -> Lesson:
    return read_lesson(1, make_material(tmp_path / "material", 2, CODE))


@pytest.fixture
def finished() -> list[tuple[int, str, Values]]:
    return []


@pytest.fixture
def bench(tmp_path: Path, lesson: Lesson, finished: list[tuple[int, str, Values]]) -> Iterator[Workbench]:
    bench = Workbench(
        tmp_path / "folder", tmp_path / "material", lambda number, run: finished.append((number, run.name, run.values))
    )
    yield bench
    bench.close()


def wait_until(condition: Callable[[], Any]) -> Any:
    end = time.monotonic() + 30
    while not (value := condition()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)
    return value


@pytest.fixture
def runs(bench: Workbench, lesson: Lesson) -> Runs:
    """Run a step, with all values that were used before, and return what changed."""

    def run(name: str, **values: Any) -> dict[str, Any]:
        after = bench.changes(1, 0)["stamp"]
        bench.run(lesson, {name: values}, bench.values_of(1))
        wait_until(lambda: bench.busy_with is None)
        steps: dict[str, Any] = bench.changes(1, after)["steps"]
        return steps

    return run


def texts(run: dict[str, Any]) -> str:
    return "".join(piece.get("text", "") for piece in run["pieces"])


def is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_steps_before_run_first_and_only_once(
    runs: Runs, finished: list[tuple[int, str, Values]], tmp_path: Path
) -> None:
    shown = runs("second")
    assert {name: texts(run) for name, run in shown.items()} == {"first": "first 3\n", "second": "second [3, 2]\n"}
    assert {name: texts(run) for name, run in runs("second").items()} == {"second": "second [3, 2, 2]\n"}
    assert finished == [(1, "first", {}), (1, "second", {}), (1, "second", {})]
    assert (tmp_path / "folder").is_dir()  # where steps work


@pytest.mark.long
def test_steps_before_run_with_their_last_values_after_a_stop(bench: Workbench, lesson: Lesson, runs: Runs) -> None:
    runs("first", width=5)
    bench.run(lesson, {"endless": {}}, bench.values_of(1) | {"fails": {"depth": 1}})
    wait_until(lambda: bench.changes(1, 0)["steps"].get("leaves", {}).get("status") == "failed")
    wait_until(lambda: bench.busy_with is None)
    bench.close()
    assert texts(runs("second")["second"]) == "second [5, 2]\n"


def test_several_steps_run_in_a_row_until_one_fails(bench: Workbench, lesson: Lesson) -> None:
    bench.run(lesson, {"first": {}, "second": {}, "fails": {"depth": 0}, "leaves": {}}, {})
    state = wait_until(lambda: (now := bench.changes(1, 0))["busy"] is None and now)
    assert {name: run["status"] for name, run in state["steps"].items()} == {
        "first": "done",
        "second": "done",
        "fails": "failed",
    }
    assert state["waiting"] == []


def test_a_step_that_fails_shows_the_last_line_and_later_runs_work(
    runs: Runs, finished: list[tuple[int, str, Values]]
) -> None:
    run = runs("fails", depth=0)["fails"]
    assert (run["status"], run["fault"]) == ("failed", "ZeroDivisionError: integer division or modulo by zero")
    assert run["pieces"] == []
    assert finished[-1][1] == "second"
    assert texts(runs("fails", depth=1)["fails"]) == "before 1\n"
    run = runs("leaves")["leaves"]
    assert (run["status"], run["fault"]) == ("failed", "SystemExit: 3")
    assert texts(runs("second")["second"]) == "second [3, 2, 2]\n"  # the same process


def test_a_fault_is_told_by_its_sentences() -> None:
    assert last_line(Fault("There is no x.", "There is no y.")) == "There is no x. There is no y."
    assert last_line(ValueError("a\nb")) == "b"
    assert last_line(KeyboardInterrupt()) == "KeyboardInterrupt"


def without(*names: str) -> str:
    """Return the code without steps that end the process or fail."""
    cells = CODE.split("# %% ")
    return "# %% ".join(cell for cell in cells if cell.split("\n")[0] not in names)


@pytest.fixture
def gentle(tmp_path: Path) -> Lesson:
    code = without("leaves", "dies", "endless", "fails", "halves")
    return read_lesson(1, make_material(tmp_path / "gentle", 1, code))


@pytest.fixture
def gentle_bench(tmp_path: Path, gentle: Lesson) -> Iterator[Workbench]:
    bench = Workbench(tmp_path / "folder", tmp_path / "gentle", lambda *step: None)
    yield bench
    bench.close()


@pytest.mark.long
def test_a_process_that_dies_is_told_and_the_next_run_starts_another(
    tmp_path: Path, finished: list[tuple[int, str, Values]]
) -> None:
    lesson = read_lesson(1, make_material(tmp_path / "m", 1, without("leaves", "fails")))
    bench = Workbench(
        tmp_path / "folder", tmp_path / "m", lambda number, run: finished.append((number, run.name, run.values))
    )
    bench.run(lesson, {"dies": {}}, {})
    wait_until(lambda: bench.busy_with is None)
    run = bench.changes(1, 0)["steps"]["dies"]
    assert (run["status"], run["fault"]) == ("failed", "The process that ran this step was killed by SIGKILL.")
    bench.run(lesson, {"second": {}}, {})
    wait_until(lambda: bench.busy_with is None)
    assert texts(bench.changes(1, 0)["steps"]["second"]) == "second [3, 2]\n"
    bench.close()


def test_a_worker_that_cannot_begin_is_told_at_the_step(tmp_path: Path, lesson: Lesson) -> None:
    (tmp_path / "file").write_text("no folder")
    bench = Workbench(tmp_path / "file", tmp_path / "material", lambda *step: None)
    bench.run(lesson, {"second": {}}, {})
    wait_until(lambda: bench.busy_with is None)
    run = bench.changes(1, 0)["steps"]["second"]
    assert (run["status"], run["fault"]) == ("failed", "The process that ran this step ended with status 1.")


def test_stop_kills_the_process_and_its_children(tmp_path: Path) -> None:
    lesson = read_lesson(1, make_material(tmp_path / "m", 1, without("leaves", "fails", "dies")))
    bench = Workbench(tmp_path / "folder", tmp_path / "m", lambda *step: None)
    bench.run(lesson, {"endless": {}, "children": {}}, {})
    child = int(wait_until(lambda: texts(bench.changes(1, 0)["steps"].get("endless", {"pieces": []}))))
    assert bench.changes(1, 0)["waiting"] == ["children"]
    assert bench.changes(1, 0)["steps"]["endless"]["status"] == "running"
    assert is_alive(child)
    bench.stop()
    state = bench.changes(1, 0)
    assert (state["busy"], state["waiting"], state["steps"]["endless"]["status"]) == (None, [], "stopped")
    assert "children" not in state["steps"]
    wait_until(lambda: not is_alive(child))
    bench.stop()  # of nothing
    bench.run(lesson, {"first": {"width": 4}}, {})
    wait_until(lambda: bench.busy_with is None)
    assert texts(bench.changes(1, 0)["steps"]["first"]) == "first 4\n"
    bench.close()


def test_a_worker_ends_with_its_server(tmp_path: Path) -> None:
    lesson = read_lesson(1, make_material(tmp_path / "m", 1, without("leaves", "fails", "dies")))
    bench = Workbench(tmp_path / "folder", tmp_path / "m", lambda *step: None)
    bench.run(lesson, {"endless": {}}, {})
    child = int(wait_until(lambda: texts(bench.changes(1, 0)["steps"].get("endless", {"pieces": []}))))
    bench._process._popen.stdin.close()  # type: ignore[union-attr] # as when the server is killed
    wait_until(lambda: not is_alive(child))
    wait_until(lambda: bench.busy_with is None)


def test_what_other_processes_print_is_shown_and_bars_write_over_their_line(
    gentle_bench: Workbench, gentle: Lesson
) -> None:
    gentle_bench.run(gentle, {"children": {}}, {})
    wait_until(lambda: gentle_bench.busy_with is None)
    shown = texts(gentle_bench.changes(1, 0)["steps"]["children"])
    assert shown == "in Python\n20 %\nwarned\né; in the end\n"


def test_long_outputs_are_cut(gentle_bench: Workbench, gentle: Lesson) -> None:
    gentle_bench.run(gentle, {"draws": {}}, {})
    wait_until(lambda: gentle_bench.busy_with is None)
    state = gentle_bench.changes(1, 0)
    flooded, drawn = state["steps"]["floods"], state["steps"]["draws"]
    assert flooded["is_cut"]
    assert len(texts(flooded)) == MOST_TEXT
    assert drawn["is_cut"]
    assert [*drawn["pieces"][0]] == ["picture", "width", "height"]
    assert len(drawn["pieces"]) == MOST_PICTURES + 1
    assert drawn["pieces"][-1] == {"text": "after\n"}
    number = int(drawn["pieces"][0]["picture"].removeprefix("picture/"))
    assert (gentle_bench.picture(number) or b"").startswith(b"\x89PNG")
    gentle_bench.run(gentle, {"draws": {}}, {})
    wait_until(lambda: gentle_bench.busy_with is None)
    assert gentle_bench.picture(number) is None  # the next run has its own


def test_what_no_encoding_holds_is_replaced(tmp_path: Path) -> None:
    lesson = read_lesson(1, make_material(tmp_path / "m", 1, without("leaves", "dies", "endless", "fails")))
    bench = Workbench(tmp_path / "folder", tmp_path / "m", lambda *step: None)
    bench.run(lesson, {"halves": {}}, {})
    wait_until(lambda: bench.busy_with is None)
    run = bench.changes(1, 0)["steps"]["halves"]
    assert (texts(run), run["fault"]) == ("half ?\n", "ValueError: half ?")
    bench.close()


def test_a_step_that_asks_gets_no_answer(gentle_bench: Workbench, gentle: Lesson) -> None:
    gentle_bench.run(gentle, {"asks": {}}, {})
    wait_until(lambda: gentle_bench.busy_with is None)
    assert gentle_bench.changes(1, 0)["steps"]["asks"]["fault"] == "EOFError: EOF when reading a line"


@pytest.mark.long
def test_another_lesson_gets_a_process_of_its_own(bench: Workbench, lesson: Lesson, tmp_path: Path) -> None:
    bench.run(lesson, {"second": {}}, {})
    wait_until(lambda: bench.busy_with is None)
    bench.run(read_lesson(2, tmp_path / "material"), {"second": {}}, {"first": {"width": 7}})
    assert bench.busy_with == 2
    assert bench.changes(1, 0)["waiting"] == []
    wait_until(lambda: bench.busy_with is None)
    assert texts(bench.changes(2, 0)["steps"]["second"]) == "second [7, 2]\n"
    assert texts(bench.changes(1, 0)["steps"]["second"]) == "second [3, 2]\n"
