"""One connection: what comes over it that is no HTTP is refused like anything else, and it is not held for nothing."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from regard.serving.guard import HEADERS
from regard.serving.replies import json_bytes

HEAD_SECONDS = 20.0  # for the lines before a request's body


class Connection(H11Protocol):
    """HTTP/1.1 of which the headers of every answer, and the time for those of a request, are the server's own."""

    _waiting: asyncio.TimerHandle | None = None  # for the head of a request

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._await_nothing()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._await_nothing()

    def on_response_complete(self) -> None:
        self._await_head()  # before the next request of a pipeline is read
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; once an answer has begun there is nothing left to say."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            body = json_bytes({"error": "This is no request that HTTP knows."})
            about = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"}
            head = "".join(f"{name}: {value}\r\n" for name, value in (HEADERS | about).items())
            self.transport.write(f"HTTP/1.1 400 Bad Request\r\n{head}\r\n".encode() + body)
        if cycle is not None:
            cycle.disconnected = True
        self.transport.close()

    def _await_head(self) -> None:
        self._await_nothing()
        if not self.transport.is_closing():
            self._waiting = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _await_nothing(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
