"""Several server processes behind one port: each accepts from the same socket and has models and queues of its own.

The main process loads nothing and answers nobody. It starts the others, starts one again that died or was stopped, and
passes on what it is told by a signal. Connections that a dead process had not accepted yet wait in the socket for the
next.
"""

import multiprocessing
import os
import signal
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from regard.base.faults import Fault
from regard.base.model_folder import read_recipe
from regard.base.processes import die_with_parent, end_in_words, is_stopped
from regard.base.signals import handling_signals
from regard.engines.fast import Choice
from regard.serving.http.guard import Warn, write_line
from regard.serving.options import ServingOptions

MOST_DEATHS = 3  # of one process after the other, before it was ready once
LOOK = 5.0  # seconds between two looks at whether a process was stopped; at the second it is killed


@dataclass(frozen=True)
class Serving:
    """Everything a server process must know: what is served, and how."""

    models: list[Path]
    engine: Choice
    options: ServingOptions
    quiet: bool

    def shared_by(self, processes: int) -> "Serving":
        """Return a copy for one of several processes: limits of waiting requests and connections are divided among
        them.
        """
        limits = self.options.limits
        shares = {
            "waiting": -(-limits.waiting // processes),
            "connections": max(8, -(-limits.connections // processes)),
        }
        options = self.options.model_copy(update={"limits": limits.model_copy(update=shares)})
        return Serving(self.models, self.engine, options, self.quiet)


class Ready(NamedTuple):
    """A process has loaded its models and accepts connections."""


class Said(NamedTuple):
    """A message for whoever runs the server."""

    sentence: str


class Refused(NamedTuple):
    """A process cannot serve what it was asked to."""

    sentences: tuple[str, ...]


class _Signal(Exception):
    """Whoever runs the server wants it to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def serve_by_processes(
    serving: Serving, processes: int, listening: socket.socket, ready: Callable[[], None], warn: Warn
) -> None:
    """Serve by so many processes until a signal says stop; `ready` is called when all of them are."""
    for model in serving.models:
        read_recipe(model)  # so that what is no model is refused before anything is started
    with tempfile.TemporaryDirectory(prefix="regard-serve-") as folder, handling_signals(_stop):
        servers = _Servers(serving.shared_by(processes), processes, listening, Path(folder), warn)
        try:
            servers.watch(ready)
        except _Signal as first:
            servers.finish()
            if first.number == signal.SIGINT:
                raise KeyboardInterrupt from None
        finally:
            servers.kill()


def _stop(number: int, frame: Any) -> NoReturn:
    raise _Signal(number)


class _Server(NamedTuple):
    number: int
    process: Any  # multiprocessing has a class for each way to start one
    connection: Connection


class _Servers:
    """All server processes, seen from the main process."""

    def __init__(self, serving: Serving, processes: int, listening: socket.socket, folder: Path, warn: Warn) -> None:
        self.serving, self.count, self.listening, self.folder, self.warn = serving, processes, listening, folder, warn
        self.running: dict[Connection, _Server] = {}
        self.ready: set[int] = set()  # numbers of those that were ready once
        self.deaths: Counter[int] = Counter()  # in a row, by the number of the process
        self.said: set[str] = set()
        self.stopped: set[int] = set()  # processes that were found stopped at the last look

    def watch(self, ready: Callable[[], None]) -> None:
        """Keep all of them running; this ends by a signal, or a fault."""
        for number in range(self.count):
            self._start(number)
        is_told, next_look = False, time.monotonic() + LOOK
        while True:
            for connection in wait(list(self.running), LOOK):
                assert isinstance(connection, Connection)
                self._hear(self.running[connection])
            if len(self.ready) == self.count and not is_told:
                is_told = True
                ready()
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + LOOK
                self.kill_stopped()

    def _start(self, number: int) -> None:
        spawn = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
        ours, theirs = spawn.Pipe(duplex=False)
        with theirs:
            given = (self.serving, self.listening, theirs, self.folder, (number, self.count))
            process = spawn.Process(target=_serve, args=given, daemon=True)
            process.start()
        self.running[ours] = _Server(number, process, ours)

    def _hear(self, server: _Server) -> None:
        try:
            message = server.connection.recv()
        except (EOFError, OSError):
            self._replace(server)
            return
        match message:
            case Ready():
                self.ready.add(server.number)
                self.deaths[server.number] = 0
            case Said(sentence) if sentence not in self.said:  # each of them says it
                self.said.add(sentence)
                self.warn(sentence)
            case Refused(sentences):
                raise Fault(*sentences)

    def kill_stopped(self) -> None:
        """Kill processes that stay stopped, for what they accepted would wait without end; they are started again."""
        before, self.stopped = self.stopped, set()
        for server in self.running.values():
            number = server.process.pid
            if is_stopped(number):
                self.stopped.add(number)
                if number in before:
                    self.warn(f"the server process {number} was stopped (SIGSTOP) and is killed.")
                    server.process.kill()

    def _replace(self, server: _Server) -> None:
        """Start another in the place of a process that died; what it counted still counts."""
        from regard.serving.shared_metrics import set_aside

        server.process.join()
        how = end_in_words(server.process.exitcode or 0)
        self._forget(server)
        set_aside(self.folder, server.process.pid)
        self.deaths[server.number] += 1
        if server.number not in self.ready or self.deaths[server.number] == MOST_DEATHS:
            raise Fault(f"A server process {how} before it was ready to serve.")
        self.warn(f"the server process {server.process.pid} {how} and is started again.")
        self._start(server.number)

    def _forget(self, server: _Server) -> None:
        del self.running[server.connection]
        server.connection.close()

    def finish(self) -> None:
        """Let all of them finish what they accepted, but none that is stopped; a second signal ends them at once."""
        self.listening.close()  # or clients could still connect, and would wait for nobody
        try:
            for server in self.running.values():
                server.process.terminate()
            for server in self.running.values():
                while server.process.exitcode is None:
                    server.process.join(1.0)
                    if is_stopped(server.process.pid):  # and so would never end
                        server.process.kill()
        except _Signal as second:
            self.kill()
            with suppress(OSError):
                os.write(2, b"regard: stopped.\n")
            os._exit(128 + second.number)

    def kill(self) -> None:
        for server in self.running.values():
            server.process.kill()
            server.process.join()


def _serve(
    serving: Serving, listening: socket.socket, connection: Connection, folder: Path, place: tuple[int, int]
) -> None:
    """Run a server process."""
    os.setsid()  # Ctrl-C is for the main process, which passes it on once
    die_with_parent()
    _take_cores(*place)
    from regard.serving.app import make_app
    from regard.serving.http.server import serve
    from regard.serving.shared_metrics import SharedMetrics

    with SharedMetrics(folder) as counts:
        note = None if serving.quiet else write_line
        try:
            guard = make_app(
                serving.models, serving.options, serving.engine, note, lambda said: connection.send(Said(said)), counts
            )
        except Fault as fault:
            connection.send(Refused(fault.sentences))
            return
        serve(guard, listening, serving.options.limits.seconds, lambda: connection.send(Ready()))


def _take_cores(number: int, of: int) -> None:
    """Keep to a share of the cores, so that the threads of all processes together are as many as there are cores."""
    cores = sorted(os.sched_getaffinity(0))
    if of <= len(cores):
        os.sched_setaffinity(0, cores[number::of])
