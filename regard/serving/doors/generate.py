"""The door of going on with a prompt."""

import time

from starlette.requests import Request
from starlette.responses import Response

from regard.serving.catalogue import Catalogue
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
    found = await service.answer(request, _all_texts(service.catalogue, model, body))
    return json_response(GenerateAnswer(model=model.name, seconds=time.monotonic() - began, texts=found))


async def _all_texts(catalogue: Catalogue, model: Served, request: GenerateRequest) -> list[list[GeneratedText]]:
    """The texts for each prompt; prompts are worked on some at a time, so that other requests can pass."""

    def work(numbers: list[int]) -> list[list[GeneratedText]]:
        prompts = [request.prompt[number] for number in numbers]
        found = model.generate(request.model_copy(update={"prompt": prompts}), numbers[0])
        return [[GeneratedText(**each.as_dict()) for each in texts] for texts in found]

    numbers = range(len(request.prompt))
    cost = float(request.tokens * (request.samples or request.beam or 1))
    answers = catalogue.workers[model.name].each(None, work, numbers, [cost] * len(numbers))
    found = dict([answer async for answer in answers])
    return [found[number] for number in numbers]


DOORS = (Door("POST", "/v1/generate", generate, "generate", "Go on with prompts.", GenerateAnswer, body=GenerateBody),)
