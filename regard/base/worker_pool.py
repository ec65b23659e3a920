"""Worker processes that last: started once, asked again and again, answering in order.

Those of `map_in_order` do one job and may run anything. These serve a training run: they hold what they read between
two epochs, and they import what their work needs and nothing else, neither torch nor the script of the main process
(which loky's workers would, for what they are sent is pickled by reference to it).
"""

import gc
import socket
import struct
import subprocess
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import cycle
from multiprocessing.connection import Connection
from threading import Lock
from typing import Any, Generic, TypeVar

from regard.base.faults import Fault

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 3  # items that each worker is asked for at once, so that it never waits and few lie in memory
_PATIENCE = 5.0  # seconds: a worker that is asked to end needs as long as one item takes
_LONGEST_WAIT = 120  # seconds without an answer, where milliseconds are usual: the worker was stopped, or hangs
_WORKER = "import sys; sys.path[:] = sys.argv[2:]; from regard.base.worker_pool import serve; serve(int(sys.argv[1]))"


class LastingWorkers(Generic[Item, Result]):
    """So many processes that do `work`, a picklable callable; they end with this object, or with the main process.

    They are started when they are first needed. Several maps may go on at once, and any may be left unfinished.
    """

    def __init__(self, work: Callable[[Item], Result], count: int) -> None:
        self._work, self._count = work, count
        self._workers: list[_Worker] = []
        self._turns: Iterator[_Worker] = iter(())
        self._lock = Lock()

    def map(self, items: Iterable[Item]) -> Iterator[Result]:
        """The results of the work on each item, in the order of the items, which are drawn as they are needed."""
        under_way: deque[tuple[_Worker, Future[Result]]] = deque()
        for item in items:
            under_way.append(self._ask(item))
            if len(under_way) == _AHEAD * self._count:
                yield self._answer(*under_way.popleft())
        while under_way:
            yield self._answer(*under_way.popleft())

    def _ask(self, item: Item) -> "tuple[_Worker, Future[Result]]":
        with self._lock:
            if not self._workers:
                self._start()
            worker = next(self._turns)
            return worker, worker.ask(item)

    def _answer(self, worker: "_Worker", asked: Future[Result]) -> Result:
        with self._lock:
            worker.wait_for(asked)
        return asked.result()

    def _start(self) -> None:
        self._workers = [_Worker() for _ in range(self._count)]
        weakref.finalize(self, _end, self._workers)
        for worker in self._workers:  # only now, so that they all start at the same time
            worker.take_on(self._work)
        self._turns = cycle(self._workers)


class _Worker:
    """One process, seen from the main process."""

    def __init__(self) -> None:
        ours, others = socket.socketpair()
        _limit_waiting(ours)
        self.connection, theirs = Connection(ours.detach()), Connection(others.detach())
        with theirs:
            # A session of its own keeps the worker from Ctrl-C, which is for the main process to handle.
            self.process = subprocess.Popen(
                [sys.executable, "-c", _WORKER, str(theirs.fileno()), *map(str, sys.path)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._owed: deque[Future[Any]] = deque()

    def take_on(self, work: Callable[[Any], Any]) -> None:
        with self._while_it_answers():
            self.connection.send(work)

    def ask(self, item: Any) -> Future[Any]:
        with self._while_it_answers():
            self.connection.send(item)
        self._owed.append(Future())
        return self._owed[-1]

    def wait_for(self, asked: Future[Any]) -> None:
        """Take in answers until this one is there; those to earlier questions, which nobody may want, come first."""
        while not asked.done():
            with self._while_it_answers():
                result, error = self.connection.recv()
            first = self._owed.popleft()
            if error is None:
                first.set_result(result)
            else:
                first.set_exception(error)

    @contextmanager
    def _while_it_answers(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, ConnectionError):
            raise Fault(
                "A worker process that cuts text into tokens has ended early, perhaps for want of memory. "
                "A run that is resumed goes on from its last checkpoint."
            ) from None
        except BlockingIOError:
            self.process.kill()  # one that is stopped would not notice that nobody waits for it any more
            raise Fault(
                f"The worker process {self.process.pid}, which cuts text into tokens, has not answered for "
                f"{_LONGEST_WAIT} seconds; was it stopped? A run that is resumed goes on from its last checkpoint."
            ) from None


def _limit_waiting(end: socket.socket) -> None:
    """Whoever waits at this end for longer than is reasonable gets a BlockingIOError."""
    limit = struct.pack("@ll", _LONGEST_WAIT, 0)  # a timeval: seconds and microseconds
    for direction in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        end.setsockopt(socket.SOL_SOCKET, direction, limit)


def _end(workers: Sequence[_Worker]) -> None:
    """Hang up, upon which each worker ends by itself; one that does not is killed."""
    for worker in workers:
        worker.connection.close()
    for worker in workers:
        try:
            worker.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()


def serve(descriptor: int) -> None:
    """Run a worker: take on the work, then answer one item after the other until the main process hangs up."""
    gc.disable()  # what samplers remember is a million objects and no cycle; looking for some took a third of the time
    connection = Connection(descriptor)
    try:
        work = connection.recv()
        while True:
            connection.send(_try_work(work, connection.recv()))
    except (EOFError, ConnectionError):
        return


def _try_work(work: Callable[[Any], Any], item: Any) -> tuple[Any, Exception | None]:
    try:
        return work(item), None
    except Exception as error:
        return None, error
