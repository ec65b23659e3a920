"""Guard around every request: who has access, what a browser may do, what is logged.

The log has counts and times, never what a user wrote: no body, no query, and no path that is not one of ours.
"""

import ipaddress
import json
import sys
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.routing import Match
from starlette.types import Message, Receive, Scope, Send

from regard.serving.http.refusals import Refusal
from regard.serving.http.replies import GONE, error_response
from regard.serving.metrics import Metrics
from regard.serving.options import Access, ServingOptions

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "media-src blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_CLIENTS = 10_000  # clients whose requests are counted
_UNCOUNTED = ("/health", "/ready", "/metrics")

Note = Callable[[dict[str, Any]], None]
Warn = Callable[[str], None]  # called with a sentence for the operator


def write_line(note: dict[str, Any]) -> None:
    """Write a log line to standard error; if that fails, requests are still answered."""
    with suppress(OSError):
        print(json.dumps(note, ensure_ascii=True), file=sys.stderr, flush=True)


class Guard:
    """An application with a guard around it."""

    def __init__(
        self, app: Starlette, options: ServingOptions, metrics: Metrics, note: Note | None, warn: Warn
    ) -> None:
        self._app, self._metrics, self._note = app, metrics, note
        self.options, self.warn = options, warn
        self._pace = RequestPace(options.limits.requests)
        self.closing = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, sent = time.monotonic(), {"status": 0, "bytes": 0}
        scope.setdefault("state", {})
        facts: dict[str, Any] = {}
        scope["state"]["note"] = facts

        async def watched_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent["status"] = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            elif message["type"] == "http.response.body":
                sent["bytes"] += len(message.get("body", b""))
            await send(message)

        self._metrics.open.inc()
        try:
            await self._answer(scope, receive, watched_send)
        finally:
            self._metrics.open.dec()
            self._write_down(scope, sent, time.monotonic() - began, facts)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._admit(scope)
        except Refusal as refusal:
            response = error_response(refusal)
            if _is_ambiguous(Headers(scope=scope)):
                response.headers["Connection"] = "close"  # what follows may be its body
            await response(scope, receive, send)
            return
        with suppress(Exception):  # answered and logged already; others would log it with the texts in it
            await self._app(scope, receive, send)

    def _admit(self, scope: Scope) -> None:
        headers, access = Headers(scope=scope), self.options.access
        if _is_ambiguous(headers):
            raise Refusal(
                400,
                "The request gives the length of its body twice; send Content-Length or Transfer-Encoding, not both.",
            )
        if not is_allowed_host(",".join(headers.getlist("host")), access):
            raise Refusal(
                421, "This server does not answer to that host name; its operator can allow it with --allow-host."
            )
        if not is_allowed_origin(headers, access):
            raise Refusal(
                403, "Pages of other sites may not use this server; its operator can allow them with --allow-origin."
            )
        if self.closing and scope["path"] != "/health":
            raise Refusal(503, "The server is shutting down; ask again when it is back.", 5)
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > self.options.limits.body:
            raise Refusal(413, f"The request is larger than {self.options.limits.body:,} bytes.")
        if scope["path"] not in _UNCOUNTED:
            self._pace.count((scope.get("client") or ("",))[0])

    def _write_down(self, scope: Scope, sent: dict[str, int], seconds: float, facts: dict[str, Any]) -> None:
        path = self._path_of(scope)
        status = facts.pop("status", None) or sent["status"] or GONE
        if status == GONE:
            self._metrics.cancelled.inc()
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "OPTIONS") else "other"
        self._metrics.requests.labels(path, method, str(status)).inc()
        self._metrics.seconds.labels(path).observe(seconds)
        if self._note is not None:
            self._note(
                {
                    "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    "client": (scope.get("client") or ("",))[0],
                    "method": method,
                    "path": path,
                    "status": status,
                    "seconds": round(seconds, 4),
                    "bytes": sent["bytes"],
                    **facts,
                }
            )

    def _path_of(self, scope: Scope) -> str:
        """Return which of our paths was asked for, also of a request that was refused before it got there."""
        asked = (route for route in self._app.routes if route.matches(scope)[0] is not Match.NONE)
        return getattr(scope.get("route") or next(asked, None), "path_format", "other")


class RequestPace:
    """Counts the requests of each client in the last minute."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def count(self, client: str) -> None:
        """Count a request, or refuse it."""
        if not self._most:
            return
        now = time.monotonic()
        times = self._times.setdefault(client, deque())
        self._times.move_to_end(client)
        while times and times[0] <= now - 60:
            times.popleft()
        if len(times) >= self._most:
            raise Refusal(429, f"Slowdown: {self._most} per 1 minute", times[0] + 60 - now)
        times.append(now)
        if len(self._times) > _CLIENTS:
            self._times.popitem(last=False)


def _is_ambiguous(headers: Headers) -> bool:
    """Return True if a proxy may see another end of the body than we do (RFC 9112, section 6.3)."""
    return "content-length" in headers and "transfer-encoding" in headers


def is_allowed_host(host: str, access: Access) -> bool:
    """Return True if a Host header names this server; another site's name that resolves to it does not count."""
    name = _name_in(f"//{host}")
    if name is None:
        return False
    if access.any_address and _is_address(name):
        return True
    return "*" in access.hosts or name in {allowed.lower().rstrip(".") for allowed in access.hosts}


def is_allowed_origin(headers: Headers, access: Access) -> bool:
    """Return True if a request comes from our own page, from no page, or from an allowed site."""
    if "origin" not in headers:
        return headers.get("sec-fetch-site") != "cross-site" or headers.get("sec-fetch-mode") == "navigate"
    origin = ",".join(headers.getlist("origin"))  # two origins match none of ours
    if origin in access.origins or "*" in access.origins:
        return True
    return origin.partition("//")[2].lower() == headers.get("host", "").lower() != ""


def _name_in(address: str) -> str | None:
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return None
    extra = parts.path or parts.query or parts.fragment or parts.username is not None
    return None if extra or not parts.hostname else parts.hostname.rstrip(".")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
