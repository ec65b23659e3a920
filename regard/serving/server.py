"""Running the application: a socket, a loop, and an end that finishes what was accepted."""

import logging
import signal
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from regard.faults import Fault
from regard.serving.connections import Connection
from regard.serving.guard import Guard

_BACKLOG = 1024


class Server(uvicorn.Server):
    """Says when it is ready, and tells its guard when it is asked to stop."""

    def __init__(self, config: uvicorn.Config, guard: Guard, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._guard, self._ready = guard, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begin to end; Ctrl-C is told on when all is finished, and SIGTERM is what a service is ended by, no fault."""
        self._guard.closing = True
        if sig != signal.SIGINT:
            self.should_exit = True
        elif self.should_exit:
            self.force_exit = True  # not told on: the first was, and twice would end in the middle of the ending
            logging.getLogger("uvicorn.error").disabled = True  # it would tell of what is cut off by a traceback
        else:
            super().handle_exit(sig, frame)


def bound(host: str, port: int) -> socket.socket:
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
            f"Nobody can be served at {host}, port {port}: {getattr(error, 'strerror', None) or error}."
        ) from None
    return found


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve(guard: Guard, listening: socket.socket, seconds: float, ready: Callable[[], None]) -> None:
    """Serve until a signal says stop; then nothing new is accepted, and what was accepted has so long to finish."""
    Server(configured(guard, seconds), guard, ready).run(sockets=[listening])


def configured(guard: Guard, seconds: float) -> uvicorn.Config:
    """How the application is run."""
    return uvicorn.Config(
        guard,
        log_level="error",
        access_log=False,
        lifespan="on",
        http=Connection,
        ws="none",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(seconds) + 1,
        backlog=_BACKLOG,
    )
