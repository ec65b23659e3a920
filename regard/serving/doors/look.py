"""The doors through which one looks inside a model: its attention, its next token and its beam, for one sentence."""

import asyncio
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from regard.serving.doors.bodies import AttentionBody, BeamBody, NextBody
from regard.serving.doors.door import Door, Service
from regard.serving.doors.records import AttentionAnswer, BeamAnswer, NextAnswer
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request


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
        from regard.serving.doors import views  # torch is loaded when someone first looks

        return getattr(views, name)(model, body, service.limits).model_dump_json().encode()

    content = await service.answer(request, service.catalogue.one(path, model, body, look))
    return Response(content, 200, {"Cache-Control": "no-store"}, "application/json")


DOORS = (
    Door(
        "POST", "/v1/attention", attention, "attention", "What every block and head looked at.", AttentionAnswer,
        body=AttentionBody,
    ),
    Door("POST", "/v1/next", next_token, "next", "The distribution of the next token.", NextAnswer, body=NextBody),
    Door("POST", "/v1/beam", beam, "beam", "The beam as a tree.", BeamAnswer, body=BeamBody),
)  # fmt: skip
