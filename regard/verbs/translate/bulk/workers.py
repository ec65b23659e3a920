"""Worker processes on one machine that finish shards, and are replaced when they die.

A worker loads the model once and is given shard after shard. What it has done is on disk, so its replacement continues
from there, and little is translated twice. If worker after worker dies at the same place, the job ends. A worker that
uses neither processor nor disk for some seconds was stopped or hangs, and is killed. The time a portion takes proves
nothing: it may be seconds or an hour.
"""

import multiprocessing
import os
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

from regard.base.faults import Fault, printable
from regard.base.processes import (
    cores,
    end_in_words,
    end_with_parent,
    is_stopped,
    is_waiting_for_a_disk,
    processor_time,
)
from regard.base.progress import Progress
from regard.console import remark, remarks_on_text
from regard.console.refused import refusal_sentence
from regard.verbs.translate.bulk.finishing import BulkJob, ShardTranslator
from regard.verbs.translate.bulk.shards import Shard
from regard.verbs.translate.line_translator import LongLines

MOST_DEATHS = 3  # deaths in a row at the same portion of a shard
LOOK = 5.0  # seconds between two checks of the workers
MOST_QUIET = 4  # checks in a row without activity; not a time, because a job that was suspended as a whole may continue


class Begun(NamedTuple):
    """The worker begins to translate this many lines."""

    lines: int


class Reached(NamedTuple):
    """This many lines of the worker's shard are translated and saved."""

    lines: int


class Finished(NamedTuple):
    """The worker's shard is done."""

    long_lines: LongLines


class Refused(NamedTuple):
    """The worker met a fault that the user can fix."""

    sentences: tuple[str, ...]


@dataclass
class Tally:
    """Totals over all workers."""

    begun: int = 0  # lines, counted each time that a worker began to translate them
    deaths: int = 0
    long_lines: LongLines = field(default_factory=LongLines)

    def remark(self) -> None:
        """Print a remark on long lines and on replaced workers."""
        self.long_lines.remark()
        if self.deaths:
            times = "1 worker died and was" if self.deaths == 1 else f"{self.deaths} workers died and were"
            remark(f"{times} replaced; {self.begun:,} lines were translated, counting repeats.")


def finish_shards(job: BulkJob, shards: Sequence[Shard], workers: int, progress: Progress) -> Tally:
    """Finish all shards with this many workers."""
    return _Crew(job, shards, workers, progress).work()


class _Worker:
    """A worker process as seen from the main process: its shard, and whether it made progress."""

    def __init__(self, job: BulkJob, number: int, threads: int) -> None:
        spawn = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
        self.log = job.folder / f"worker-{number}.log"
        self.number = number
        self.connection, theirs = spawn.Pipe()
        with theirs:
            self.process = spawn.Process(target=_work, args=(job, theirs, self.log, threads), daemon=True)
            self.process.start()
        self.shard: Shard | None = None
        self.has_got_on = False
        self._quiet_looks = 0
        self._busy: int | None = None

    def give(self, shard: Shard) -> None:
        self.shard, self.has_got_on, self._quiet_looks = shard, False, 0
        with suppress(OSError):  # it died and will be replaced
            self.connection.send(shard)

    def is_alive(self) -> bool:
        """Return True if it was active at one of the last checks, including this one."""
        pid = self.process.pid or 0
        before, self._busy = self._busy, processor_time(pid)
        is_quiet = self._busy is not None and self._busy == before and not is_waiting_for_a_disk(pid)
        self._quiet_looks = self._quiet_looks + 1 if is_quiet else 0
        return self._quiet_looks < MOST_QUIET

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()

    def how_it_died(self) -> str:
        self.process.join()
        ending, lines = end_in_words(self.process.exitcode or 0), self.words()
        return f"{ending}, saying '{printable(lines[-1])}'" if lines else f"{ending}, without a word"

    def words(self) -> list[str]:
        """Return the lines that it and its predecessors have printed."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return [line.strip() for line in text.split("\n") if line.strip()]


class _Crew:
    """All workers of a job."""

    def __init__(self, job: BulkJob, shards: Sequence[Shard], workers: int, progress: Progress) -> None:
        self.job, self.progress = job, progress
        self.waiting = deque(shards)
        self.total = sum(shard.lines.count for shard in shards)
        self.reached: dict[Shard, int] = {}
        self.deaths: dict[Shard, int] = {}  # in a row, without a finished portion in between
        self.tally = Tally()
        self.threads = max(1, cores() // workers)
        self.count = min(workers, len(shards))
        self.workers: dict[Connection, _Worker] = {}
        self.said: set[str] = set()
        self.next_look = time.monotonic() + LOOK

    def work(self) -> Tally:
        try:
            for number in range(1, self.count + 1):
                self._hire(number)
            while any(worker.shard for worker in self.workers.values()):
                for ready in wait(list(self.workers), LOOK):
                    assert isinstance(ready, Connection)
                    self._hear(self.workers[ready])
                if time.monotonic() >= self.next_look:
                    self.next_look = time.monotonic() + LOOK
                    self._kill_the_lifeless()
        finally:
            for worker in self.workers.values():
                worker.end()
        return self.tally

    def _hire(self, number: int) -> None:
        worker = _Worker(self.job, number, self.threads)
        self.workers[worker.connection] = worker
        self._give_next(worker)

    def _give_next(self, worker: _Worker) -> None:
        worker.shard = None
        if self.waiting:
            worker.give(self.waiting.popleft())

    def _hear(self, worker: _Worker) -> None:
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):  # OSError if it died in the middle of a message
            self._replace(worker)
            return
        shard = worker.shard
        assert shard is not None
        match message:
            case Begun(lines):
                self.tally.begun += lines
            case Reached(lines):
                worker.has_got_on = True
                self._report(shard, lines)
            case Finished(long_lines):
                self.tally.long_lines = self.tally.long_lines.with_others(long_lines)
                self._report(shard, shard.lines.count)
                self._pass_on(worker.words())
                self._give_next(worker)
            case Refused(sentences):
                raise Fault(*sentences)

    def _report(self, shard: Shard, lines: int) -> None:
        self.reached[shard] = lines
        self.progress("translating", sum(self.reached.values()), self.total)

    def _pass_on(self, words: list[str]) -> None:
        """Print the remarks of workers, each once."""
        for line in words:
            if line not in self.said:
                self.said.add(line)
                remark(line)

    def _kill_the_lifeless(self) -> None:
        """Kill workers that hang; their death is then noticed like any other."""
        for worker in self.workers.values():
            if worker.shard is not None and not worker.is_alive():
                pid = worker.process.pid or 0
                why = "was stopped" if is_stopped(pid) else "hangs"
                remark(
                    f"Worker {worker.number} (process {pid}) {why}: no activity for {LOOK * MOST_QUIET:.0f} "
                    f"seconds. It is killed, and another continues with {worker.shard}."
                )
                worker.process.kill()

    def _replace(self, worker: _Worker) -> None:
        """Replace a worker that died; its shard comes first."""
        how = worker.how_it_died()
        self.tally.deaths += 1
        del self.workers[worker.connection]
        worker.connection.close()
        if worker.shard is not None:
            before = 0 if worker.has_got_on else self.deaths.get(worker.shard, 0)
            self.deaths[worker.shard] = before + 1
            if before + 1 == MOST_DEATHS:
                raise Fault(
                    f"{MOST_DEATHS} workers died one after the other at the same place in {worker.shard} of "
                    f"{self.job.lines.given.file}; the last {how}. What is done is kept; the same with --resume "
                    "continues from there."
                )
            self.waiting.appendleft(worker.shard)
            self._hire(worker.number)


def _work(job: BulkJob, connection: Connection, log: Path, threads: int) -> None:
    """Run a worker until the main process closes its connection."""
    end_with_parent()
    os.environ.setdefault("OMP_NUM_THREADS", str(threads))  # torch is not loaded yet
    _write_errors_to(log)
    translator = ShardTranslator(job)

    def report(what: str, done: int, total: int | None) -> None:
        connection.send(Reached(done))

    with remarks_on_text():
        while True:
            try:
                shard = connection.recv()
            except EOFError:
                return
            try:
                long_lines = translator.finish(shard, report, lambda lines: connection.send(Begun(lines)))
            except Fault as fault:
                connection.send(Refused(fault.sentences))
            except Exception as error:
                if (sentence := refusal_sentence(error)) is None:
                    raise
                connection.send(Refused((sentence,)))
            else:
                connection.send(Finished(long_lines))


def _write_errors_to(log: Path) -> None:
    """Redirect the worker's messages into a file that can be read after its death."""
    sys.stderr.flush()
    with log.open("ab", buffering=0) as file:
        os.dup2(file.fileno(), 2)
