"""Running the application: a socket, a loop, and an end that finishes what was accepted."""

import asyncio
import errno
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn

from regard.base.faults import Fault
from regard.serving.http.connections import Config
from regard.serving.http.guard import Guard

_BACKLOG = 1024  # connections that the system keeps for us until we accept them
_USED_UP = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Server(uvicorn.Server):
    """Says when it is ready, and tells its guard when it is asked to stop."""

    def __init__(self, config: Config, guard: Guard, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._guard, self._ready, self._is_used_up = guard, ready, False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._handle_fault)
        await super().startup(sockets)
        for listening in sockets or []:
            listening.listen(_BACKLOG)  # which asyncio made as short as what it accepts at once
        if self.started:
            self._ready()

    def _handle_fault(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle a failure outside of every request; running out of files is reported once."""
        if getattr(context.get("exception"), "errno", None) not in _USED_UP:
            loop.default_exception_handler(context)
        elif not self._is_used_up:
            self._is_used_up = True
            self._guard.warn("the system lets no more files be opened; new connections wait until some are closed.")

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begin to end, and the second time end at once.

        Ctrl-C is told on when all is finished; SIGTERM is what a service is ended by, no fault.
        """
        self._guard.closing = True
        if self.should_exit:
            # Without any ending of Python's, which would wait for an engine in the middle of a batch. Nothing is lost:
            # a server writes no files.
            with suppress(OSError):
                os.write(2, b"regard: stopped.\n")
            os._exit(128 + sig)
        if sig == signal.SIGINT:
            super().handle_exit(sig, frame)
        self.should_exit = True


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free."""
    found = None
    try:
        (family, _, _, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # Named by its protocol, or asyncio would not switch off the delay that joins small packets.
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        if found is not None:
            found.close()
        raise Fault(
            f"The server cannot listen on {host}, port {port}: {getattr(error, 'strerror', None) or error}."
        ) from None
    return found


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve(guard: Guard, listening: socket.socket, seconds: float, ready: Callable[[], None]) -> None:
    """Serve until a signal says stop; then nothing new is accepted, and what was accepted has so long to finish."""
    Server(configure(guard, seconds), guard, ready).run(sockets=[listening])


def configure(guard: Guard, seconds: float) -> Config:
    """Return the configuration that the application runs with."""
    return Config(
        guard,
        log_level="error",
        access_log=False,
        lifespan="on",
        ws="none",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(seconds) + 1,
    )
