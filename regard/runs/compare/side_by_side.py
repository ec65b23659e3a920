"""Train several runs at once, each in its own process of `regard train`."""

import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.base.files import write_file
from regard.base.plugins import environment_of_plugins
from regard.base.recipe import write
from regard.hardware.devices import pick_device
from regard.hardware.threads import share_of_threads
from regard.runs.compare.plan import PlannedRun
from regard.training.checkpoint import RunFolder

LOG = "log.txt"  # output of the process, in the run's training folder
_WAIT = 0.05  # seconds between two checks of the processes


@dataclass(frozen=True)
class Child:
    """A process that trains a run, and the position in the log where its output begins."""

    run: PlannedRun
    process: subprocess.Popen
    log: Path
    begins: int

    def complaint(self) -> list[str]:
        """Return the sentences in which a failed process said why."""
        lines = self.log.read_bytes()[self.begins :].decode("utf-8", "replace").splitlines()
        sentences = [line.removeprefix("regard: ") for line in lines if line.startswith("regard: ")]
        return sentences or [f"its process ended with status {self.process.returncode}; see {self.log}."]


def train_side_by_side(
    planned: Sequence[PlannedRun], jobs: int, minutes_left: Callable[[], float | None], stop: Callable[[], bool]
) -> Iterator[tuple[PlannedRun, list[str]]]:
    """Train runs, at most `jobs` at once; yield each run with its errors when its process ends.

    When no minutes are left, no more runs start. When `stop` returns True, running processes are also asked to stop
    cleanly. If an exception leaves processes running, they are killed; that loses only the steps since their last
    checkpoint.
    """
    waiting, working, is_stopping = deque(planned), list[Child](), False
    try:
        while working or waiting:
            if stop() or minutes_left() == 0:
                waiting.clear()
            while waiting and len(working) < jobs:
                working.append(_start(waiting.popleft(), jobs, minutes_left()))
            if stop() and not is_stopping:
                _ask_to_stop(working)
                is_stopping = True
            for child in [child for child in working if child.process.poll() is not None]:
                working.remove(child)
                yield child.run, child.complaint() if child.process.returncode and not is_stopping else []
            time.sleep(_WAIT)
    finally:
        for child in working:
            child.process.kill()
            child.process.wait()


def _start(run: PlannedRun, jobs: int, minutes: float | None) -> Child:
    folder = RunFolder(run.folder)
    folder.begin()
    log = folder.training / LOG
    before = facts.threads if (facts := folder.facts()) else None
    threads = before or share_of_threads(jobs, pick_device(getattr(run.recipe.training, "device", "cpu")))
    environment = {"OMP_NUM_THREADS": str(threads)} | dict(os.environ) | environment_of_plugins()
    with log.open("ab") as stream:
        begins = stream.tell()
        # A session of its own, so that Ctrl-C reaches only this process, which then asks each child once.
        process = subprocess.Popen(
            _command(run, minutes),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            env=environment,
            start_new_session=True,
        )
        return Child(run, process, log, begins)


def _command(run: PlannedRun, minutes: float | None) -> list[str]:
    """Return the command that trains a run from a recipe next to it; with `minutes` it stops then, but plans
    nothing.
    """
    recipe = run.folder.with_name(f"{run.folder.name}.toml")
    write_file(recipe, write(run.recipe, f"The recipe of {run.title}.").encode())
    command = [sys.executable, "-m", "regard", "train", str(recipe), "--out", str(run.folder), "--resume"]
    if minutes is None:
        return command
    steps = getattr(run.recipe.training, "steps", None)
    fixed = [] if steps is None else ["--set", f"training.steps={steps}"]  # variants are compared at equal steps
    return [*command, "--minutes", str(minutes), *fixed]


def _ask_to_stop(working: Sequence[Child]) -> None:
    for child in working:
        if child.process.poll() is None:
            child.process.send_signal(signal.SIGINT)
