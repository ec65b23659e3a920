"""Sending answers: JSON, errors as one sentence, and events; and noticing when a client has gone."""

import asyncio
import json
import traceback
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from regard.base.doors import TooLarge
from regard.base.faults import Fault
from regard.base.files import finite
from regard.serving.http.refusals import Refusal

Event = tuple[str, Any]  # its name, and a record or a table


def json_bytes(value: Any) -> bytes:
    """Return a record, a list of records or plain values as JSON; bytes are returned unchanged."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, BaseModel):
        return value.model_dump_json().encode()
    if isinstance(value, list) and any(isinstance(item, BaseModel) for item in value):
        return b"[" + b",".join(map(json_bytes, value)) + b"]"
    return json.dumps(finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(json_bytes(value), status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def listed_json(record: BaseModel, name: str, items: Sequence[bytes]) -> bytes:
    """Return a record as JSON, with items that are already JSON inserted into its empty list of this name.

    So a long list is encoded item by item in the worker thread, and never as a whole in the event loop, which would
    answer nobody else meanwhile.
    """
    empty = f'"{name}":[]'.encode()  # cannot occur in a text, where quotation marks are escaped
    before, separator, after = json_bytes(record).partition(empty)
    assert separator, f"the list {name} of {type(record).__name__} is not empty"
    return b"".join([before, empty[:-1], b",".join(items), b"]", after])


def refusal_of(error: BaseException) -> Refusal:
    """Return the refusal for any error."""
    match error:
        case Refusal():
            return error
        case TooLarge():
            return Refusal(413, " ".join(error.sentences))
        case Fault():
            return Refusal(400, " ".join(error.sentences))
        case TimeoutError():
            return Refusal(504, "This took too long and was given up; ask for less at a time.")
    return Refusal(500, "This is a fault of the server's own; its log says more.")


def error_response(error: BaseException) -> Response:
    refusal = refusal_of(error)
    return json_response({"error": refusal.sentence}, refusal.status, refusal.headers)


GONE = 499  # the logged status of a client that did not wait; never sent


class Gone(Exception):
    """The client no longer waits."""


async def unless_gone(request: Request, work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of some work, or cancel it if the client disconnects. The body must have been read."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_wait_for_disconnection(request.receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Gone
        return task.result()
    finally:
        await _cancel(gone)
        await _cancel(task)


async def _wait_for_disconnection(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cancel(task: "asyncio.Future[Any]") -> None:
    if not task.done():
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


class EventStream(Response):
    """A stream of server-sent events; it ends with the last event, or when the client disconnects."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[Event, None], failed: Callable[[BaseException], None]) -> None:
        super().__init__(None, 200, {"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events, self._failed = events, failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        writing = asyncio.ensure_future(self._write(send))
        gone = asyncio.ensure_future(_wait_for_disconnection(receive))
        try:
            await asyncio.wait((writing, gone), return_when=asyncio.FIRST_COMPLETED)
            if not writing.done():
                self._failed(Gone())
            else:
                writing.result()
        finally:
            await _cancel(gone)
            await _cancel(writing)

    async def _write(self, send: Send) -> None:
        async def put(data: bytes, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": more})

        try:
            async with aclosing(self._events) as events:
                async for name, value in events:
                    await put(event_bytes(name, value))
        except Exception as error:
            self._failed(error)
            refusal = refusal_of(error)
            await put(event_bytes("error", {"error": refusal.sentence, "status": refusal.status}))
        await put(b"", more=False)


def event_bytes(name: str, value: Any) -> bytes:
    """Return one event; JSON has no line breaks, so its data is one line."""
    return b"event: " + name.encode() + b"\ndata: " + json_bytes(value) + b"\n\n"


def note_failure(request: Request, error: BaseException) -> None:
    """Log what went wrong; only internal errors are logged with their place in the code."""
    if isinstance(error, Gone):
        request.state.note["status"] = GONE
        return
    refusal = refusal_of(error)
    request.state.note["status"] = refusal.status
    if refusal.status == 500:
        frames = traceback.extract_tb(error.__traceback__)[-3:]
        request.state.note["fault"] = type(error).__name__
        request.state.note["where"] = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames]


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers, sentence = dict(error.headers or {}), str(error.detail)
    if error.status_code == 404:
        sentence = "There is nothing at this address."
    elif error.status_code == 405:
        sentence = f"This address does not take {request.method} requests; use {headers['Allow']}."
    return json_response({"error": sentence}, error.status_code, headers)


async def _own_error(request: Request, error: Exception) -> Response:
    """Answer a failure outside of every endpoint, such as in sending an answer."""
    note_failure(request, error)
    return error_response(error)


ERROR_HANDLERS = {HTTPException: _http_error, Exception: _own_error}  # of every application
