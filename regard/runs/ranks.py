"""Train on several processes of this machine: start and watch them, report one that fails, and end them all.

Each process is a rank and runs `rank_process.py`. The store through which they find each other lives here, so that it
outlives them all.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

from regard.base.faults import Fault
from regard.base.processes import is_stopped
from regard.base.progress import Remark
from regard.base.signals import handling_signals
from regard.training.checkpoint import RunFolder
from regard.training.process_group import TCPStore
from regard.training.pulse import after, farewell_of, step_of

HOST = "127.0.0.1"
LOST = 71  # exit status of a rank that ends because another is gone
INTERRUPTED = 130
_LOOK_SECONDS = 0.1  # between two checks of the ranks
_STOPPED_SECONDS = 5.0  # a stopped rank is given up after this time
_CULPRIT_SECONDS = 5.0  # when ranks report a lost one, time for it to show itself
_LAST_WORK_SECONDS = 5.0  # for the leading rank, when another has raised a fault
_RANK = "import sys; sys.path[:] = sys.argv[1:]; from regard.runs.rank_process import main; main()"


@dataclass(frozen=True)
class Job:
    """Job of the ranks: a recipe as a table, and the other arguments of `train_table`."""

    table: dict[str, Any]
    settings: Sequence[str]
    folder: str
    resume: bool = False
    overwrite: bool = False
    minutes: float | None = None
    began: float = 0.0  # by the machine's monotonic clock
    choices: Sequence[str] = ()
    quiet: bool = False


@dataclass(frozen=True)
class Outcome:
    """Outcome of the ranks: trained to the end, or stopped."""

    was_finished: bool
    interrupted: bool


class RankFailed(Exception):
    """A rank ended early or hangs; `step` is the last known step."""

    def __init__(self, what: str, step: int | None = None) -> None:
        super().__init__(what)
        self.step = step or 0


def train_on_processes(job: Job, processes: int, restarts: int, remark: Remark) -> Outcome:
    """Train a job on several processes; if one fails, restart from the last checkpoint, up to `restarts` times."""
    for left in range(restarts, -1, -1):
        try:
            return _Watch(job, processes).outcome()
        except RankFailed as failed:
            folder = RunFolder(Path(job.folder))
            facts = folder.facts() if folder.exists() else None
            # Ranks report their steps once a second, so one may have got further.
            what = f"{failed}{after(max(failed.step, facts.step if facts else 0))}"
            onward = "nothing was saved yet" if facts is None else f"the run can continue from step {facts.step}"
            if not left:
                again = "" if facts is None else f": regard train --resume --out {job.folder} --processes {processes}"
                raise Fault(f"{what}; {onward}{again}.") from None
            remark(f"{what}; {onward} (restart {restarts - left + 1} of {restarts}).")
            job = replace(job, resume=facts is not None, overwrite=job.overwrite and facts is None)
    raise AssertionError("the last try returns or raises")


class _Watch:
    """The ranks of a job while they run."""

    def __init__(self, job: Job, processes: int) -> None:
        self.size = processes
        self.store = TCPStore(HOST, 0, is_master=True, wait_for_workers=False)
        self.store.set("job", json.dumps(asdict(job)))
        self.ranks = [self._start(rank) for rank in range(processes)]
        self.is_asked_to_end = False
        self._stopped_since: dict[int, float] = {}
        self._lost_since: float | None = None

    def _start(self, rank: int) -> subprocess.Popen[bytes]:
        environment = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": self.size, "MASTER_PORT": self.store.port}
        fixed = {"MASTER_ADDR": HOST, "TORCHELASTIC_USE_AGENT_STORE": "True", "GLOO_SOCKET_IFNAME": "lo"}
        is_heard = rank == 0 or os.environ.get("REGARD_TRACEBACK")
        # A session of its own shields a rank from Ctrl-C, which is passed on to all ranks here.
        return subprocess.Popen(
            [sys.executable, "-c", _RANK, *map(str, sys.path)],
            env=os.environ | fixed | {name: str(value) for name, value in environment.items()},
            stdin=subprocess.DEVNULL,
            stdout=None if rank == 0 else subprocess.DEVNULL,
            stderr=None if is_heard else subprocess.DEVNULL,
            start_new_session=True,
        )

    def outcome(self) -> Outcome:
        """Wait until all ranks have ended; leave nothing running, whatever happens."""
        try:
            with handling_signals(self._pass_on):
                while any(process.poll() is None for process in self.ranks):
                    self._look()
                    time.sleep(_LOOK_SECONDS)
            self._look()
            if not self.store.check(["outcome"]):  # interrupted before training, so nothing was saved
                raise KeyboardInterrupt
            return Outcome(**json.loads(self.store.get("outcome")))
        finally:
            for process in self.ranks:
                process.kill()
            for process in self.ranks:
                process.wait()

    def _look(self) -> None:
        """Raise a failure if a rank is not well."""
        now = time.monotonic()
        for rank, process in enumerate(self.ranks):
            status = process.poll()
            if status is None and is_stopped(process.pid):
                if now - self._stopped_since.setdefault(rank, now) > _STOPPED_SECONDS:
                    raise self._failure(rank, "was stopped (SIGSTOP)")
            else:
                self._stopped_since.pop(rank, None)
            if status not in (None, 0, INTERRUPTED, LOST):
                self._raise_end(rank, status)
        if any(process.poll() == LOST for process in self.ranks):
            self._lost_since = self._lost_since or now
            if now - self._lost_since > _CULPRIT_SECONDS:
                raise RankFailed("The ranks have lost contact")

    def _raise_end(self, rank: int, status: int) -> None:
        """Raise how a rank ended, in its own words if it left any."""
        farewell = farewell_of(self.store, rank)
        if farewell is not None and farewell.is_fault:
            with suppress(subprocess.TimeoutExpired):  # the first rank may still be removing a folder
                self.ranks[0].wait(_LAST_WORK_SECONDS)
            raise Fault(*farewell.sentences)
        if farewell is not None:
            raise self._failure(rank, f"has failed ({'; '.join(farewell.sentences)})")
        how = f"signal {-status} ({signal.Signals(-status).name})" if status < 0 else f"status {status}"
        raise self._failure(rank, f"has ended with {how}")

    def _failure(self, rank: int, what: str) -> RankFailed:
        return RankFailed(f"Rank {rank} of {self.size} {what}", step_of(self.store, rank))

    def _have_met(self) -> bool:
        """Return True if every rank has given a sign of life; before that, Ctrl-C would break its imports."""
        return self.store.check([f"pulse/{rank}" for rank in range(self.size)])

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        """Pass Ctrl-C on: the first asks the ranks to stop, the second ends them, as does one before they have met."""
        if self.is_asked_to_end or not self._have_met():
            raise KeyboardInterrupt
        self.is_asked_to_end = True
        for process in self.ranks:
            process.send_signal(signal.SIGINT)
