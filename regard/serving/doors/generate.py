"""The doors of language models: going on with a prompt, whole or token by token, and what they make of one."""

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from regard.base.faults import Fault, faults_numbered
from regard.serving.catalogue import Catalogue
from regard.serving.doors.bodies import GenerateBody, PromptBody
from regard.serving.doors.door import EVENTS, Door, Service
from regard.serving.doors.limits import check_amount, check_numbers
from regard.serving.doors.records import (
    Continued,
    GenerateAnswer,
    GeneratedText,
    NextTokenAnswer,
    PromptAnswer,
    Rest,
    WrittenTokenAnswer,
)
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import read_request
from regard.serving.http.replies import Event, EventStream, json_response, note_failure
from regard.serving.served import Served
from regard.verbs.generate.request import GenerateRequest

if TYPE_CHECKING:
    from regard.verbs.generate.telling import WrittenToken


async def generate(service: Service, request: Request) -> Response:
    body, began = read_request(GenerateBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("generate", body.model)
    check_amount(body.prompt, service.limits)
    check_numbers(body, ("tokens", "samples", "beam", "n_best"), service.limits)
    service.note(request, body.prompt, model=model.name)
    if body.stream or EVENTS in request.headers.get("accept", ""):
        if len(body.prompt) != 1:
            raise Fault("A stream continues one prompt only; give one, or ask without 'stream'.")
        return EventStream(_told(service, model, body, began), lambda error: note_failure(request, error))
    found = await service.answer(request, _all_texts(service.catalogue, model, body))
    return json_response(GenerateAnswer(model=model.name, seconds=time.monotonic() - began, texts=found))


async def prompt(service: Service, request: Request) -> Response:
    body, began = read_request(PromptBody, await service.read(request, read_json)), time.monotonic()
    model = service.catalogue.able("generate", body.model)
    check_amount([body.prompt], service.limits)
    service.note(request, [body.prompt], model=model.name)
    work = service.catalogue.one("/v1/prompt", model, body, partial(model.read_prompt, body))
    found = await service.answer(request, work)
    answer = PromptAnswer(
        model=model.name,
        seconds=time.monotonic() - began,
        stem=found.stem,
        tokens=[WrittenTokenAnswer(**asdict(each)) for each in found.tokens],
        next=[NextTokenAnswer(**asdict(each)) for each in found.next],
        rest=Rest(count=found.others, probability=found.others_share),
        perplexity=found.perplexity,
        room=found.room,
        forgotten=found.forgotten,
    )
    return json_response(answer)


async def _all_texts(catalogue: Catalogue, model: Served, request: GenerateRequest) -> list[list[GeneratedText]]:
    """The texts for each prompt; prompts are worked on some at a time, so that other requests can pass."""

    def work(numbers: list[int]) -> list[list[GeneratedText]]:
        prompts = [request.prompt[number] for number in numbers]
        with faults_numbered(numbers):
            found = model.generate(request.model_copy(update={"prompt": prompts}), numbers[0])
            return [[GeneratedText(**each.as_dict()) for each in texts] for texts in found]

    numbers = range(len(request.prompt))
    answers = catalogue.each("/v1/generate", model, request, None, work, numbers)
    found = dict([answer async for answer in answers])
    return [found[number] for number in numbers]


async def _told(service: Service, model: Served, body: GenerateBody, began: float) -> AsyncGenerator[Event, None]:
    """Each token when it is written, and in the end the texts; who goes away stops the search at its next step."""
    loop, tokens = asyncio.get_running_loop(), asyncio.Queue[WrittenTokenAnswer | None]()

    def tell(token: "WrittenToken") -> None:
        loop.call_soon_threadsafe(tokens.put_nowait, WrittenTokenAnswer(**asdict(token)))

    def work() -> list[GeneratedText]:
        found = model.generate_aloud(body, tell)
        return [GeneratedText(**each.as_dict()) for each in found]

    async with asyncio.timeout(service.limits.seconds):
        writing = asyncio.ensure_future(service.catalogue.one("/v1/generate", model, body, work))
        writing.add_done_callback(lambda _: tokens.put_nowait(None))
        try:
            while token := await tokens.get():
                yield "token", token
            texts = await writing
        finally:
            writing.cancel()
    yield "done", Continued(model=model.name, seconds=time.monotonic() - began, texts=texts)


DOORS = (
    Door(
        "POST", "/v1/generate", generate, "generate", "Go on with prompts.", GenerateAnswer, body=GenerateBody,
        other_kinds=(EVENTS,),
    ),
    Door(
        "POST", "/v1/prompt", prompt, "generate", "How probable a prompt is, and what may come next.", PromptAnswer,
        body=PromptBody,
    ),
)  # fmt: skip
