"""The steps at every door: read the request, queue it, run the model, write the answer."""

import asyncio
import hmac
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from regard.base.doors import EVENTS, Door, Event, Job, LanguagesBody, Question, VerbDoor
from regard.base.faults import Fault, faults_numbered
from regard.serving.catalogue import Catalogue, beside
from regard.serving.http.bodies import read_json
from regard.serving.http.refusals import Refusal, read_request
from regard.serving.http.replies import EventStream, json_bytes, json_response, listed_json, note_failure, unless_gone
from regard.serving.served import Served

Reader = Callable[[Request, int], Awaitable[dict[str, Any]]]


class Service:
    """The models and limits that all doors share."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue, self.limits, self.access = catalogue, catalogue.options.limits, catalogue.options.access

    def authorise(self, request: Request, body_key: Any) -> None:
        """Refuse a client without the key, if one is set; it comes in the body or as a bearer token."""
        if self.access.key is None:
            return
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        key = body_key or (_as_text(token) if scheme.lower() == "bearer" else "")
        if not key:
            raise Refusal(400, "Please contact the server operator to get an API key")
        if not isinstance(key, str) or not hmac.compare_digest(
            key.encode(), self.access.key.get_secret_value().encode()
        ):
            raise Refusal(403, "Invalid API key")

    async def read(self, request: Request, how: Reader) -> dict[str, Any]:
        """Read a request and check its key; refuse one that takes too long to arrive."""
        async with asyncio.timeout(self.limits.seconds):
            table = await how(request, self.limits.body)
        self.authorise(request, table.get("api_key"))
        return table

    def note(self, request: Request, texts: Sequence[str], **more: Any) -> None:
        """Add counts of a request to the log, and the texts themselves only if the operator asked for them."""
        request.state.note |= {"texts": len(texts), "characters": sum(map(len, texts)), **more}
        if self.access.log_texts:
            request.state.note["q"] = list(texts)

    async def answer(self, request: Request, work: Any) -> Any:
        """Return the result of work, within the time limit and while the client waits."""

        async def limited() -> Any:
            async with asyncio.timeout(self.limits.seconds):
                return await work

        return await unless_gone(request, limited())


def _as_text(header: str) -> str:
    """Decode a header as UTF-8; all headers are read as Latin-1."""
    return header.strip().encode("latin-1").decode(errors="replace")


Endpoint = Callable[[Service, Request], Awaitable[Response]]


@dataclass(frozen=True, kw_only=True)
class OwnDoor(Door):
    """A door with its own endpoint, rather than that of a verb."""

    endpoint: Endpoint
    works_as: str = ""  # the verb's door whose price applies, if a model works behind this one


def endpoint_of(door: Door, catalogue: Catalogue) -> Endpoint:
    """Return the endpoint of a door; one that no model opens answers with what the models can do."""
    if door.can is not None and door.can not in catalogue.abilities:
        return partial(_refuse, door.can)
    if isinstance(door, OwnDoor):
        return door.endpoint
    assert isinstance(door, VerbDoor)
    return partial(_answer, door)


async def _refuse(verb: str, service: Service, request: Request) -> Response:
    raise Refusal(404, service.catalogue.cannot(verb))


async def _answer(door: VerbDoor, service: Service, request: Request) -> Response:
    """Answer a request at a verb's door."""
    body: Any = read_request(door.body, await service.read(request, read_json))
    began = time.monotonic()
    is_streamed = EVENTS in door.other_kinds and (body.stream or EVENTS in request.headers.get("accept", ""))
    texts = getattr(body, door.texts, [])
    texts = [texts] if isinstance(texts, str) else texts
    model, detected = await _find_model(door, service.catalogue, body, texts)
    question = Question(model, body, service.limits, texts, began, is_streamed, detected)
    job = await beside(partial(door.job or partial(VerbJob, door), question), sum(map(len, texts)))
    service.note(request, texts, model=model.name, **job.noted)
    if is_streamed:
        return EventStream(_events(service, job), partial(note_failure, request))
    results = await service.answer(request, results_of(service.catalogue, job))
    return json_response(job.answer(results))


async def _find_model(door: VerbDoor, catalogue: Catalogue, body: Any, texts: Sequence[str]) -> tuple[Served, Any]:
    if not isinstance(body, LanguagesBody):
        return catalogue.able(str(door.can), body.model), None
    text = "\n".join(texts)[: catalogue.options.limits.characters]
    # In another thread, because the first language detection takes a second.
    return await asyncio.to_thread(catalogue.choose, body, text)


async def results_of(catalogue: Catalogue, job: Job) -> list[Any]:
    """Return the results of a job's items, in order."""
    results: dict[int, Any] = {}
    async with aclosing(catalogue.each(job)) as coming:
        async for place, result in coming:
            results[place] = result
            if refusal := job.check(results):
                raise refusal
    return [results[place] for place in range(len(job.items))]


async def _events(service: Service, job: Job) -> AsyncGenerator[Event, None]:
    """Yield the events of a job as they happen; if the client disconnects, its work stops at the next step."""
    loop, events = asyncio.get_running_loop(), asyncio.Queue[Event | None]()

    def tell(name: str, data: BaseModel) -> None:
        loop.call_soon_threadsafe(events.put_nowait, (name, data))

    job.tell = tell

    async def work() -> BaseModel:
        results: dict[int, Any] = {}
        async with aclosing(service.catalogue.each(job)) as coming:
            async for place, result in coming:
                results[place] = result
                for event in job.follow(place, result):
                    events.put_nowait(event)
        return job.end([results[place] for place in range(len(job.items))])

    async with asyncio.timeout(service.limits.seconds):
        for event in job.begin():
            yield event
        working = asyncio.ensure_future(work())
        working.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while event_ := await events.get():
                yield event_
            yield "done", await working
        finally:
            working.cancel()


class VerbJob(Job):
    """A job for a door that declares its items and its work."""

    def __init__(self, door: VerbDoor, question: Question[Any]) -> None:
        self.door, self.question = door, replace(question, body=door.ready(question))
        body, self.model, self.price = self.question.body, question.model, door.price
        key = door.key(body)
        self.key = None if key is None else (door.path, key)
        self.items = list(enumerate(getattr(body, body.items))) if door.listed else [None]

    def costs(self) -> Sequence[float]:
        assert self.door.costs is not None
        return self.door.costs(self.question)

    def work(self, items: list[Any]) -> list[Any]:
        door, question = self.door, self.question
        if question.streams and door.stream is not None:
            assert self.tell is not None
            return [door.write(door.stream.work(question, self.tell))]
        if not door.listed:
            fields = door.work(question)
            return [json_bytes(door.answer(**self._head | fields))]
        numbers, values = zip(*items, strict=True)
        body = question.body.model_copy(update={question.body.items: list(values)})
        with faults_numbered(numbers):
            return [self._written(result) for result in door.work(replace(question, body=body, first=numbers[0]))]

    def _written(self, result: Any) -> tuple[int, bytes]:
        """Return the size of a result and its JSON, which is empty if this result alone exceeds the limit."""
        bound = self.door.bound
        size = 0 if bound is None else bound.size(result)
        is_allowed = bound is None or size <= getattr(self.question.limits, bound.limit)
        return size, json_bytes(self.door.write(result)) if is_allowed else b""

    @property
    def _head(self) -> dict[str, Any]:
        return {"model": self.model.name, "seconds": time.monotonic() - self.question.began}

    def check(self, results: Mapping[int, Any]) -> Fault | None:
        if (bound := self.door.bound) is None:
            return None
        size, most = sum(size for size, _ in results.values()), getattr(self.question.limits, bound.limit)
        if size <= most:
            return None
        some = "" if len(results) == len(self.items) else f" of the first {len(results):,} {self.door.listed}"
        return Fault(bound.sentence.format(some=some, size=size, limit=most))

    def answer(self, results: Sequence[Any]) -> bytes:
        if not self.door.listed:
            (content,) = results
            return bytes(content)
        empty = self.door.answer(**self._head, **{self.door.listed: []}, **self.door.more(self.question.body))
        return listed_json(empty, self.door.listed, [content for _, content in results])

    def end(self, results: Sequence[Any]) -> BaseModel:
        assert self.door.stream is not None
        return self.door.stream.done(**self._head, **{self.door.listed: results[0]})
