"""Several trainings at once, each a process of its own running `regard train`."""

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

LOG = "log.txt"  # in the folder training of a run: what its process said
_WAIT = 0.05  # seconds between two looks at the processes


@dataclass(frozen=True)
class Child:
    """A process that trains a run, and where in the log its own words begin."""

    run: PlannedRun
    process: subprocess.Popen
    log: Path
    begins: int

    def complaint(self) -> list[str]:
        """The sentences in which a process that failed said why."""
        said = self.log.read_bytes()[self.begins :].decode("utf-8", "replace").splitlines()
        sentences = [line.removeprefix("regard: ") for line in said if line.startswith("regard: ")]
        return sentences or [f"its process ended with status {self.process.returncode}; {self.log} says more."]


def train_side_by_side(
    planned: Sequence[PlannedRun], jobs: int, minutes_left: Callable[[], float | None], stop: Callable[[], bool]
) -> Iterator[tuple[PlannedRun, list[str]]]:
    """Train runs, at most `jobs` at once; gives each when its process has ended, with what went wrong.

    When no minutes are left no more are begun; when `stop` says so, those at work are asked to stop cleanly besides. A
    process left over by an exception is killed, which loses no more than the steps since its last checkpoint.
    """
    waiting, working, asked = deque(planned), list[Child](), False
    try:
        while working or waiting:
            if stop() or minutes_left() == 0:
                waiting.clear()
            while waiting and len(working) < jobs:
                working.append(_start(waiting.popleft(), jobs, minutes_left()))
            if stop() and not asked:
                _ask_to_stop(working)
                asked = True
            for child in [child for child in working if child.process.poll() is not None]:
                working.remove(child)
                yield child.run, child.complaint() if child.process.returncode and not asked else []
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
        # In a session of its own, so that Ctrl-C reaches us alone and we ask each process once.
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
    """Return the command line that trains a run, from a recipe next to it; minutes stop it, and plan nothing."""
    recipe = run.folder.with_name(f"{run.folder.name}.toml")
    write_file(recipe, write(run.recipe, f"The recipe of {run.title}.").encode())
    command = [sys.executable, "-m", "regard", "train", str(recipe), "--out", str(run.folder), "--resume"]
    if minutes is None:
        return command
    steps = getattr(run.recipe.training, "steps", None)
    fixed = [] if steps is None else ["--set", f"training.steps={steps}"]  # variants are compared by equal steps
    return [*command, "--minutes", str(minutes), *fixed]


def _ask_to_stop(working: Sequence[Child]) -> None:
    for child in working:
        if child.process.poll() is None:
            child.process.send_signal(signal.SIGINT)
