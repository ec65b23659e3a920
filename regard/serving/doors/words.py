"""The doors of word vectors: neighbours of words, analogies, and maps."""

import time
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from regard.base.faults import Fault
from regard.serving.catalogue import Catalogue
from regard.serving.doors.bodies import AnalogyBody, MapBody, NeighboursBody
from regard.serving.doors.door import Door, Service
from regard.serving.doors.limits import check_amount
from regard.serving.doors.records import AnalogyAnswer, MapAnswer, NeighboursAnswer, WordNeighbours
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request
from regard.serving.http.replies import json_bytes, json_response, listed_response
from regard.serving.prices import mapped_words
from regard.serving.served import Served
from regard.verbs.words.request import NeighboursRequest


async def neighbours(service: Service, request: Request) -> Response:
    body, began = read_request(NeighboursBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("neighbours", body.model)
    check_amount(body.words, service.limits)
    service.note(request, body.words, model=model.name)
    found = await service.answer(request, _all_neighbours(service.catalogue, model, body))
    answer = NeighboursAnswer(model=model.name, seconds=time.monotonic() - began, words=[])
    return listed_response(answer, "words", found)


async def analogy(service: Service, request: Request) -> Response:
    body, began = read_request(AnalogyBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("analogy", body.model)
    check_amount(body.words, service.limits)
    service.note(request, body.words, model=model.name)
    work = service.catalogue.one("/v1/analogy", model, body, partial(model.analogy, body))
    found = (await service.answer(request, work)).as_dict()
    return json_response(AnalogyAnswer(model=model.name, seconds=time.monotonic() - began, **found))


async def map_words(service: Service, request: Request) -> Response:
    body, began = read_request(MapBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("neighbours", body.model)
    check_amount(body.words, service.limits)
    if (wanted := mapped_words(body)) > service.limits.mapped:
        raise Fault(f"These may be {wanted:,} words, but a map here has at most {service.limits.mapped:,}.")
    service.note(request, body.words, model=model.name)
    work = service.catalogue.one("/v1/map", model, body, partial(model.map_words, body))
    found = await service.answer(request, work)
    return json_response(MapAnswer(model=model.name, seconds=time.monotonic() - began, map=found))


async def _all_neighbours(catalogue: Catalogue, model: Served, request: NeighboursRequest) -> list[bytes]:
    """Return the neighbours of each word as JSON; words are worked on in turns, so that other requests can pass."""

    def work(words: list[str]) -> list[bytes]:
        found = model.neighbours(request.model_copy(update={"words": words}))
        return [json_bytes(WordNeighbours(**each.as_dict())) for each in found]

    answers = catalogue.each("/v1/neighbours", model, request, None, work, request.words)
    found = dict([answer async for answer in answers])
    return [found[number] for number in range(len(request.words))]


DOORS = (
    Door(
        "POST",
        "/v1/neighbours",
        neighbours,
        "neighbours",
        "The words nearest to each word.",
        NeighboursAnswer,
        body=NeighboursBody,
    ),
    Door("POST", "/v1/map", map_words, "neighbours", "Words in the plane.", MapAnswer, body=MapBody),
    Door("POST", "/v1/analogy", analogy, "analogy", "What is to c as b is to a.", AnalogyAnswer, body=AnalogyBody),
)
