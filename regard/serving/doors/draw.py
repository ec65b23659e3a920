"""The door of drawing: drawings of a model's own, as pictures and as animations."""

import time
from base64 import b64encode
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from regard.serving.doors.bodies import DrawBody
from regard.serving.doors.door import Door, Service
from regard.serving.doors.drawing_records import DrawAnswer, DrawnAnswer
from regard.serving.doors.limits import check_drawings
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request
from regard.serving.http.replies import json_response
from regard.serving.served import Served
from regard.verbs.draw.request import DrawRequest
from regard.viewing.drawings import sheet_gif, sheet_png

if TYPE_CHECKING:
    from regard.protocols import Drawn


async def draw(service: Service, request: Request) -> Response:
    body, began = read_request(DrawBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("draw", body.model)
    check_drawings(body, service.limits)
    service.note(request, [], model=model.name)
    work = service.catalogue.one("/v1/draw", model, body, partial(_all_drawings, model, body))
    found = await service.answer(request, work)
    return json_response(DrawAnswer(model=model.name, seconds=time.monotonic() - began, seed=body.seed, drawings=found))


def _all_drawings(model: Served, request: DrawRequest) -> list[DrawnAnswer]:
    return [_drawn_answer(drawn) for drawn in model.draw(request)]


def _drawn_answer(drawn: "Drawn") -> DrawnAnswer:
    picture = b64encode(sheet_png([[drawn.picture()]])).decode()
    animation = b64encode(sheet_gif([drawn.frames()])).decode()
    return DrawnAnswer(picture=picture, animation=animation, drawing=drawn.as_dict())


DOORS = (Door("POST", "/v1/draw", draw, "draw", "Drawings of a model's own.", DrawAnswer, body=DrawBody),)
