"""Several server processes behind one port: each accepts from the same socket and has its own models and queues.

The main process loads nothing and answers nobody. It starts the others, restarts one that died or was stopped, and
passes on signals. Connections that a dead process had not accepted yet wait in the socket for another.
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

MOST_DEATHS = 3  # deaths in a row of one process before it was ready
LOOK = 5.0  # seconds between two checks for stopped processes; one found stopped twice is killed


@dataclass(frozen=True)
class Serving:
    """Everything a server process must know: the models, and how to serve them."""

    models: list[Path]
    engine: Choice
    options: ServingOptions
    quiet: bool

    def shared_by(self, processes: int) -> "Serving":
        """Return a copy for one of several processes, with its share of the limits."""
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
    """A message for the operator."""

    sentence: str


class Refused(NamedTuple):
    """A process cannot serve the models."""

    sentences: tuple[str, ...]


class _Signal(Exception):
    """A signal to end the server."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def serve_by_processes(
    serving: Serving, processes: int, listener: socket.socket, ready: Callable[[], None], warn: Warn
) -> None:
    """Serve with several processes until a signal; `ready` is called when all of them are."""
    for model in serving.models:
        read_recipe(model)  # refuses what is not a model before anything is started
    with tempfile.TemporaryDirectory(prefix="regard-serve-") as folder, handling_signals(_stop):
        servers = _Servers(serving.shared_by(processes), processes, listener, Path(folder), warn)
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
    process: Any  # the class depends on the start method
    connection: Connection


class _Servers:
    """All server processes, as seen from the main process."""

    def __init__(self, serving: Serving, processes: int, listening: socket.socket, folder: Path, warn: Warn) -> None:
        self.serving, self.count, self.listening, self.folder, self.warn = serving, processes, listening, folder, warn
        self.running: dict[Connection, _Server] = {}
        self.ready: set[int] = set()  # numbers of those that have been ready
        self.deaths: Counter[int] = Counter()  # in a row, by the number of the process
        self.said: set[str] = set()
        self.stopped: set[int] = set()  # processes found stopped at the last check

    def watch(self, ready: Callable[[], None]) -> None:
        """Keep all of them running; only a signal or a fault ends this."""
        for number in range(self.count):
            self._start(number)
        is_reported, next_look = False, time.monotonic() + LOOK
        while True:
            for connection in wait(list(self.running), LOOK):
                assert isinstance(connection, Connection)
                self._hear(self.running[connection])
            if len(self.ready) == self.count and not is_reported:
                is_reported = True
                ready()
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + LOOK
                self.kill_stopped()

    def _start(self, number: int) -> None:
        spawn = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
        ours, theirs = spawn.Pipe(duplex=False)
        with theirs:
            arguments = (self.serving, self.listening, theirs, self.folder, (number, self.count))
            process = spawn.Process(target=_serve, args=arguments, daemon=True)
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
            case Said(sentence) if sentence not in self.said:  # every process sends it
                self.said.add(sentence)
                self.warn(sentence)
            case Refused(sentences):
                raise Fault(*sentences)

    def kill_stopped(self) -> None:
        """Kill processes that stay stopped, as their accepted requests would wait forever; they are restarted."""
        before, self.stopped = self.stopped, set()
        for server in self.running.values():
            pid = server.process.pid
            if is_stopped(pid):
                self.stopped.add(pid)
                if pid in before:
                    self.warn(f"the server process {pid} was stopped (SIGSTOP) and is killed.")
                    server.process.kill()

    def _replace(self, server: _Server) -> None:
        """Replace a process that died; its metrics still count."""
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
        """Let all of them finish accepted requests, except stopped ones; a second signal ends them at once."""
        self.listening.close()  # or clients could still connect and would wait in vain
        try:
            for server in self.running.values():
                server.process.terminate()
            for server in self.running.values():
                while server.process.exitcode is None:
                    server.process.join(1.0)
                    if is_stopped(server.process.pid):  # it would never end
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
    os.setsid()  # Ctrl-C goes to the main process, which passes it on once
    die_with_parent()
    _take_cores(*place)
    from regard.serving.app import make_app
    from regard.serving.http.server import serve
    from regard.serving.shared_metrics import SharedMetrics

    with SharedMetrics(folder) as counts:
        note = None if serving.quiet else write_line
        try:
            guard = make_app(
                serving.models,
                serving.options,
                serving.engine,
                note,
                lambda sentence: connection.send(Said(sentence)),
                counts,
            )
        except Fault as fault:
            connection.send(Refused(fault.sentences))
            return
        serve(guard, listening, serving.options.limits.seconds, lambda: connection.send(Ready()))


def _take_cores(number: int, of: int) -> None:
    """Use only a share of the cores, so that the threads of all processes together match the number of cores."""
    cores = sorted(os.sched_getaffinity(0))
    if of <= len(cores):
        os.sched_setaffinity(0, cores[number::of])
