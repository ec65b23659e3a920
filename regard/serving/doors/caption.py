"""The door of captions: what pictures show."""

import time

from starlette.requests import Request
from starlette.responses import Response

from regard.serving.catalogue import Catalogue
from regard.serving.doors.answer import check_inputs
from regard.serving.doors.bodies import CaptionBody
from regard.serving.doors.door import Door, Service
from regard.serving.doors.limits import check_numbers
from regard.serving.doors.picture_records import CaptionAnswer, CaptionsAnswer
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request
from regard.serving.http.replies import json_response
from regard.serving.served import Served
from regard.verbs.answer.request import PictureInput
from regard.verbs.caption.request import CaptionRequest


async def caption(service: Service, request: Request) -> Response:
    body, began = read_request(CaptionBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("caption", body.model)
    check_inputs(model, body.pictures, service.limits)
    check_numbers(body, ("beam",), service.limits)
    service.note(request, [], model=model.name)
    found = await service.answer(request, _all_captions(service.catalogue, model, body))
    return json_response(CaptionsAnswer(model=model.name, seconds=time.monotonic() - began, captions=found))


async def _all_captions(catalogue: Catalogue, model: Served, request: CaptionRequest) -> list[CaptionAnswer]:
    """The captions in the order of the pictures, which share batches with those of other requests."""

    def work(batch: list[tuple[int, PictureInput]]) -> list[CaptionAnswer]:
        part = request.model_copy(update={"pictures": [picture for _, picture in batch]})
        return [CaptionAnswer(**each.as_dict()) for each in model.caption(part, first=batch[0][0])]

    key = ("caption", request.beam, request.length_penalty, request.attention)
    shared = key if request.sample is None else None  # what is drawn depends on the number of a picture
    answers = catalogue.each("/v1/caption", model, request, shared, work, list(enumerate(request.pictures)))
    found = dict([answer async for answer in answers])
    return [found[place] for place in range(len(request.pictures))]


DOORS = (Door("POST", "/v1/caption", caption, "caption", "What each picture shows.", CaptionsAnswer, body=CaptionBody),)
