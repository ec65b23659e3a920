"""Lasting worker processes: started once, used repeatedly, answering in order.

Those of `map_in_order` do one job and may run anything. These serve a training run: they keep what they read between
epochs, and they import only what their work needs, neither torch nor the script of the main process. (loky's workers
would import the script, since what they receive is pickled by reference to it.)
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

_AHEAD = 3  # items sent ahead to each worker, so that it never waits and few are in memory
_PATIENCE = 5.0  # seconds; a worker that is asked to end may need to finish an item
_LONGEST_WAIT = 120  # seconds without an answer, which usually takes milliseconds: the worker was stopped, or hangs
_WORKER = "import sys; sys.path[:] = sys.argv[2:]; from regard.base.worker_pool import serve; serve(int(sys.argv[1]))"


class LastingWorkers(Generic[Item, Result]):
    """`count` processes that do `work`, a picklable callable; they end with this object or the main process.

    They are started when first needed. Several maps may run at once, and any may be left unfinished.
    """

    def __init__(self, work: Callable[[Item], Result], count: int) -> None:
        self._work, self._count = work, count
        self._workers: list[_Worker] = []
        self._turns: Iterator[_Worker] = iter(())
        self._lock = Lock()

    def map(self, items: Iterable[Item]) -> Iterator[Result]:
        """Yield the results of the work on each item, in order; items are taken as needed."""
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

    def _answer(self, worker: "_Worker", future: Future[Result]) -> Result:
        with self._lock:
            worker.wait_for(future)
        return future.result()

    def _start(self) -> None:
        self._workers = [_Worker() for _ in range(self._count)]
        weakref.finalize(self, _end, self._workers)
        for worker in self._workers:  # only now, so that they all start at once
            worker.take_on(self._work)
        self._turns = cycle(self._workers)


class _Worker:
    """One process, seen from the main process."""

    def __init__(self) -> None:
        ours, others = socket.socketpair()
        _limit_waiting(ours)
        self.connection, theirs = Connection(ours.detach()), Connection(others.detach())
        with theirs:
            # A separate session shields the worker from Ctrl-C, which the main process handles.
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

    def wait_for(self, future: Future[Any]) -> None:
        """Receive answers until this one arrives; those to earlier questions, perhaps unwanted, come first."""
        while not future.done():
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
                "A worker process that tokenises text ended early, perhaps for lack of memory. A resumed run "
                "continues from its last checkpoint."
            ) from None
        except BlockingIOError:
            self.process.kill()  # a stopped one would not notice that nobody waits for it
            raise Fault(
                f"The worker process {self.process.pid}, which tokenises text, has not answered for "
                f"{_LONGEST_WAIT} seconds; was it stopped? A resumed run continues from its last checkpoint."
            ) from None


def _limit_waiting(end: socket.socket) -> None:
    """Make waiting at this end for too long raise BlockingIOError."""
    limit = struct.pack("@ll", _LONGEST_WAIT, 0)  # timeval: seconds and
    for direction in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        end.setsockopt(socket.SOL_SOCKET, direction, limit)


def _end(workers: Sequence[_Worker]) -> None:
    """Close the connections, upon which each worker ends; kill one that does not."""
    for worker in workers:
        worker.connection.close()
    for worker in workers:
        try:
            worker.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            worker.process.wait()


def serve(descriptor: int) -> None:
    """Run a worker: receive the work, then answer one item after another until the main process closes."""
    gc.disable()  # samplers cache a million objects without cycles; collecting garbage took a third of the time
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
