"""A door: an address of the server, what it does, and how it is described; most belong to something models can do."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from regard.serving.catalogue import Catalogue
from regard.serving.http.refusals import Refusal
from regard.serving.http.replies import unless_gone

JSON, FORM, TEXT, EVENTS = "application/json", "application/x-www-form-urlencoded", "text/plain", "text/event-stream"
Reader = Callable[[Request, int], Awaitable[dict[str, Any]]]


class Service:
    """What all doors share."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue, self.limits, self.access = catalogue, catalogue.options.limits, catalogue.options.access

    def authorise(self, request: Request, given: Any) -> None:
        """Refuse who does not know the key, where there is one; it comes in the body, or as a bearer's."""
        if self.access.key is None:
            return
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        key = given or (_as_text(token) if scheme.lower() == "bearer" else "")
        if not key:
            raise Refusal(400, "Please contact the server operator to get an API key")
        if not isinstance(key, str) or not hmac.compare_digest(
            key.encode(), self.access.key.get_secret_value().encode()
        ):
            raise Refusal(403, "Invalid API key")

    async def read(self, request: Request, how: Reader) -> dict[str, Any]:
        """What a request says, if it knows the key; who says it too slowly is not waited for."""
        async with asyncio.timeout(self.limits.seconds):
            table = await how(request, self.limits.body)
        self.authorise(request, table.get("api_key"))
        return table

    def note(self, request: Request, texts: Sequence[str], **more: Any) -> None:
        """Add to what the log says of a request: counts, and the texts themselves only where that was asked for."""
        request.state.note |= {"texts": len(texts), "characters": sum(map(len, texts)), **more}
        if self.access.log_texts:
            request.state.note["q"] = list(texts)

    async def answer(self, request: Request, work: Any) -> Any:
        """What work gives, within the time there is, as long as the client waits."""

        async def limited() -> Any:
            async with asyncio.timeout(self.limits.seconds):
                return await work

        return await unless_gone(request, limited())


def _as_text(header: str) -> str:
    """What stands in a header as UTF-8; all headers are read as Latin-1."""
    return header.strip().encode("latin-1").decode(errors="replace")


Endpoint = Callable[[Service, Request], Awaitable[Response]]


@dataclass(frozen=True)
class Door:
    """One address and what happens there.

    Where it belongs to something that models `can` do, it is open if one that is served can; else it says what they
    can. Without a summary the description of the interface does not have it.
    """

    method: Literal["GET", "POST"]
    path: str
    endpoint: Endpoint
    can: str | None = None
    summary: str = ""
    answer: type[BaseModel] | None = None
    is_list: bool = False  # whether there are several such answers
    body: type[BaseModel] | None = None
    body_kinds: tuple[str, ...] = (JSON,)
    other_kinds: tuple[str, ...] = ()  # of answers
    may_fail: tuple[int, ...] = ()  # in what other ways than all do


def open_doors(doors: Sequence[Door], catalogue: Catalogue) -> list[Door]:
    """Those of the doors behind which there is a model."""
    return [door for door in doors if door.can is None or door.can in catalogue.abilities]


def refuse_at(door: Door) -> Endpoint:
    """What happens at a door that is not open."""

    async def refuse(service: Service, request: Request) -> Response:
        raise Refusal(404, service.catalogue.cannot(door.can or ""))

    return refuse
