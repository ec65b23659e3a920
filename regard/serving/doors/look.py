"""The doors through which one looks inside a model: its attention, its next token and its beam, for one sentence."""

import asyncio
from types import ModuleType
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from regard.base.pauses import beside_pauses
from regard.serving.doors.bodies import AttentionBody, BeamBody, NextBody
from regard.serving.doors.door import Door, Service
from regard.serving.doors.records import AttentionAnswer, BeamAnswer, NextAnswer
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request
from regard.serving.http.replies import json_bytes


async def attention(service: Service, request: Request) -> Response:
    return await _view(service, request, AttentionBody, "/v1/attention", "attention")


async def next_token(service: Service, request: Request) -> Response:
    return await _view(service, request, NextBody, "/v1/next", "next_token")


async def beam(service: Service, request: Request) -> Response:
    return await _view(service, request, BeamBody, "/v1/beam", "beam")


async def _view(
    service: Service,
    request: Request,
    kind: type[AttentionBody] | type[NextBody] | type[BeamBody],
    path: str,
    name: Literal["attention", "next_token", "beam"],
) -> Response:
    body = read_request(kind, await service.read(request, read_json))
    model, _ = await asyncio.to_thread(service.catalogue.choose, body, body.text)
    service.note(request, [body.text], model=model.name)

    def look() -> bytes:
        view = getattr(beside_pauses(_load_views), name)
        return json_bytes(view(model, body, service.limits))

    content = await service.answer(request, service.catalogue.one(path, model, body, look))
    return Response(content, 200, {"Cache-Control": "no-store"}, "application/json")


def _load_views() -> ModuleType:
    """Return what looks inside a model; torch is loaded with it when someone first looks."""
    from regard.serving.doors import views

    return views


DOORS = (
    Door(
        "POST", "/v1/attention", attention, "attention", "What every block and head looked at.", AttentionAnswer,
        body=AttentionBody,
    ),
    Door("POST", "/v1/next", next_token, "next", "The distribution of the next token.", NextAnswer, body=NextBody),
    Door("POST", "/v1/beam", beam, "beam", "The beam as a tree.", BeamAnswer, body=BeamBody),
)  # fmt: skip
