"""Parallel runs, by processes that only pretend to train."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.base.recipe import read_table
from regard.families import check_recipe
from regard.hardware import threads
from regard.runs.compare import running, side_by_side
from regard.runs.compare.plan import ComparisonPlan
from regard.training.checkpoint import RunFolder
from regard.training.snapshot import Facts, Snapshot

GOOD = "print('regard: nothing to complain of')"
BAD = "import sys; print('regard: This file is empty.', file=sys.stderr); sys.exit(2)"
MUTE = "import sys; sys.exit(3)"
PATIENT = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
print("ready", flush=True)
signal.pause()
"""


@pytest.fixture
def pretended(small: ComparisonPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Train the four runs of a comparison with processes that only pretend to."""

    def train(programs: list[str], jobs: int, stop: Any = lambda: False, minutes: float | None = None) -> Any:
        left = iter(programs)
        monkeypatch.setattr(side_by_side, "_command", lambda run, _: [sys.executable, "-c", next(left)])
        return side_by_side.train_side_by_side(small.runs(tmp_path / "out"), jobs, lambda: minutes, stop)

    return train


def test_each_process_that_fails_says_why_and_the_others_go_on(pretended: Any, tmp_path: Path) -> None:
    ended = {run.title: complaint for run, complaint in pretended([BAD, GOOD, MUTE, GOOD], 3)}
    assert ended["before, seed 1"] == ["This file is empty."]
    log = tmp_path / "out" / "before" / "seed-2" / "training" / "log.txt"
    assert ended["before, seed 2"] == [f"its process ended with status 3; see {log}."]
    assert (ended["after, seed 1"], ended["after, seed 2"]) == ([], [])
    again = {run.title: complaint for run, complaint in pretended([MUTE, GOOD, GOOD, GOOD], 1)}
    assert "ended with status 3" in again["before, seed 1"][0]  # earlier log lines are not repeated


def test_all_are_asked_to_stop_and_no_more_are_begun(pretended: Any, tmp_path: Path) -> None:
    logs = [tmp_path / "out" / place / "seed-1" / "training" / "log.txt" for place in ("before", "after")]

    def both_are_ready() -> bool:
        return all(log.is_file() and b"ready" in log.read_bytes() for log in logs)

    ended = [(run.title, complaint) for run, complaint in pretended([PATIENT] * 4, 2, both_are_ready)]
    assert sorted(ended) == [("after, seed 1", []), ("before, seed 1", [])]  # either may stop first


def test_when_no_time_is_left_no_more_are_begun(pretended: Any) -> None:
    assert list(pretended([GOOD] * 4, 2, minutes=0.0)) == []


def test_processes_do_not_outlive_whoever_started_them(pretended: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen] = []
    real = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda *arguments, **more: started.append(real(*arguments, **more)) or started[-1]
    )
    ended = pretended([GOOD, PATIENT, PATIENT, PATIENT], 2)
    next(ended)
    ended.close()
    assert len(started) == 2
    assert [process.returncode for process in started] == [0, -signal.SIGKILL]


def test_a_run_that_goes_on_keeps_its_threads_whatever_the_jobs(
    pretended: Any, small: ComparisonPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "cores", lambda: 6)
    run_folder = RunFolder(small.runs(tmp_path / "out")[1].folder)
    run_folder.begin()
    run_folder.save(Snapshot({"weights": {"w": torch.ones(1)}}, Facts(step=4, threads=5)))
    list(pretended(["import os; print(os.environ['OMP_NUM_THREADS'])"] * 4, 2))
    logs = [run.folder / "training" / "log.txt" for run in small.runs(tmp_path / "out")]
    assert [log.read_text() for log in logs] == ["3\n", "5\n", "3\n", "3\n"]


def test_a_run_is_trained_by_the_ordinary_command(small: ComparisonPlan, tmp_path: Path) -> None:
    run = small.runs(tmp_path / "out")[3]
    run.folder.mkdir(parents=True)
    command = side_by_side._command(run, 1.5)
    recipe = tmp_path / "out" / "after" / "seed-2.toml"
    assert command[1:] == [
        "-m",
        "regard",
        "train",
        str(recipe),
        "--out",
        str(run.folder),
        "--resume",
        "--minutes",
        "1.5",
        "--set",  # so that the clock stops the run, instead of a plan with other steps than its variants
        f"training.steps={run.recipe.training.steps}",
    ]
    assert check_recipe(read_table(recipe)) == run.recipe
    assert "--minutes" not in side_by_side._command(run, None)


@pytest.mark.parametrize(("device", "remarks"), [("cuda", 1), ("cpu", 0)])
def test_runs_on_a_gpu_are_told_how_to_share_it(
    small: ComparisonPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, remarks: int
) -> None:
    said: list[str] = []
    monkeypatch.setattr(running, "pick_device", lambda name: torch.device(device))
    monkeypatch.setattr(running, "advice_on_sharing", lambda: "processes take turns")
    running._remark_on_sharing(small.runs(tmp_path / "out"), said.append)
    assert said == ["Side by side, processes take turns."] * remarks
