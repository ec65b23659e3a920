"""Connections: refuse what is not HTTP in our own format, and close idle connections when there are too many."""

import asyncio
import resource
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from regard.serving.http.guard import HEADERS, Guard
from regard.serving.http.replies import json_bytes

HEAD_SECONDS = 20.0  # for the lines before a request's body


class Config(uvicorn.Config):
    """Configuration of the application, with its limit on connections."""

    def __init__(self, guard: Guard, **options: Any) -> None:
        self.room = connections_allowed(guard.options.limits.connections)
        self.guard, self._is_full = guard, False
        # This many are accepted at once. Three such batches are open on top of `room` before the loop closes any, and
        # the process needs a few files itself: all of them must fit into twice the room.
        super().__init__(guard, http=Connection, backlog=max(1, min(128, self.room // 8)), **options)

    def say_full(self) -> None:
        """Warn the operator, once."""
        if not self._is_full:
            self._is_full = True
            self.guard.warn(f"all {self.room} connections are in use; those idle for longest are closed.")


def connections_allowed(wanted: int) -> int:
    """Return the number of connections: as wanted, or half of the open files allowed, after raising that limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft < 2 * wanted:
        soft = 2 * wanted if hard == resource.RLIM_INFINITY else max(soft, min(2 * wanted, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(1, min(wanted, soft // 2))


class Connection(H11Protocol):
    """HTTP/1.1 with our own headers on every answer, and a time limit for the head of a request."""

    config: Config
    _waiting: asyncio.TimerHandle | None = None  # timer for the head of a request
    _since = 0.0  # when it began to wait for the client, or for its answer

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_head()
        if len(self.connections) > self.config.room:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._await_nothing()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._await_nothing()
            self._since = self.loop.time()

    def on_response_complete(self) -> None:
        self._await_head()  # before the next request of a pipeline is read
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP; if an answer has begun, only close the connection."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            body = json_bytes({"error": "This is not a valid HTTP request."})
            about = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"}
            head = "".join(f"{name}: {value}\r\n" for name, value in (HEADERS | about).items())
            self.transport.write(f"HTTP/1.1 400 Bad Request\r\n{head}\r\n".encode() + body)
        if cycle is not None:
            cycle.disconnected = True
        self.transport.close()

    @property
    def _waits_for_client(self) -> bool:
        """True if the client acts next: sends a request, the rest of one, or reads its answer."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body or self.flow.write_paused

    def _make_room(self) -> None:
        """Close the connection that has waited longest for its client: this one if all others are being answered."""
        self.config.say_full()
        waiting = [
            connection
            for connection in self.connections
            if isinstance(connection, Connection) and connection._waits_for_client
        ]
        oldest = min(waiting, key=lambda connection: connection._since)
        self.connections.discard(oldest)  # at once, so that the next call does not find it again
        oldest.transport.abort()

    def _await_head(self) -> None:
        self._await_nothing()
        self._since = self.loop.time()
        if not self.transport.is_closing():
            self._waiting = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _await_nothing(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
