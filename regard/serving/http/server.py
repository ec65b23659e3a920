"""Running the application: a socket, an event loop, and a graceful shutdown."""

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

_BACKLOG = 1024  # connections that the system queues until we accept them
_USED_UP = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Server(uvicorn.Server):
    """Reports when it is ready, and tells its guard when it is asked to stop."""

    def __init__(self, config: Config, guard: Guard, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._guard, self._ready, self._is_used_up = guard, ready, False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._handle_fault)
        await super().startup(sockets)
        for listening in sockets or []:
            listening.listen(_BACKLOG)  # asyncio had shortened it to what it accepts at once
        if self.started:
            self._ready()

    def _handle_fault(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle a failure outside of every request; report only once that no more files can be opened."""
        if getattr(context.get("exception"), "errno", None) not in _USED_UP:
            loop.default_exception_handler(context)
        elif not self._is_used_up:
            self._is_used_up = True
            self._guard.warn("no more files can be opened; new connections wait until some are closed.")

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begin to shut down; at the second signal, exit at once.

        Ctrl-C is raised again when everything is finished; SIGTERM is the normal end of a service.
        """
        self._guard.closing = True
        if self.should_exit:
            # Skip Python's shutdown, which would wait for an engine in the middle of a batch. Nothing is lost: a server
            # writes no files.
            with suppress(OSError):
                os.write(2, b"regard: stopped.\n")
            os._exit(128 + sig)
        if sig == signal.SIGINT:
            super().handle_exit(sig, frame)
        self.should_exit = True


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 picks a free one."""
    listener = None
    try:
        (family, _, _, _, address), *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # With its protocol, or asyncio would not disable Nagle's delay.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        if listener is not None:
            listener.close()
        raise Fault(
            f"The server cannot listen on {host}, port {port}: {getattr(error, 'strerror', None) or error}."
        ) from None
    return listener


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve(guard: Guard, listening: socket.socket, seconds: float, ready: Callable[[], None]) -> None:
    """Serve until a signal; then accept nothing new, and give accepted requests `seconds` to finish."""
    Server(configure(guard, seconds), guard, ready).run(sockets=[listening])


def configure(guard: Guard, seconds: float) -> Config:
    """Return the configuration of the application."""
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
