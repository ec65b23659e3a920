"""The door of going on with a prompt."""

import time
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from regard.serving.doors.bodies import GenerateBody
from regard.serving.doors.door import Door, Service
from regard.serving.doors.limits import check_amount, check_numbers
from regard.serving.doors.records import GenerateAnswer, GeneratedText
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request
from regard.serving.http.replies import json_response
from regard.serving.served import Served
from regard.verbs.requests.generate import GenerateRequest


async def generate(service: Service, request: Request) -> Response:
    body, began = read_request(GenerateBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("generate", body.model)
    check_amount(body.prompt, service.limits)
    check_numbers(body, ("tokens", "samples", "beam", "n_best"), service.limits)
    service.note(request, body.prompt, model=model.name)
    # A request is a piece of work of its own, because what is drawn depends on the places of its prompts.
    work = service.catalogue.workers[model.name].one(lambda: _texts(model, body))
    found = await service.answer(request, work)
    return json_response(GenerateAnswer(model=model.name, seconds=time.monotonic() - began, texts=found))


def _texts(model: Served, request: GenerateRequest) -> Sequence[Sequence[GeneratedText]]:
    return [[GeneratedText(**each.as_dict()) for each in texts] for texts in model.generate(request)]


DOORS = (Door("POST", "/v1/generate", generate, "generate", "Go on with prompts.", GenerateAnswer, body=GenerateBody),)
