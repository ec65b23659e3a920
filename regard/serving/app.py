"""The application: which address does what."""

import asyncio
import hmac
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from regard.engines.fast import Choice
from regard.serving import libre
from regard.serving.bodies import read_json, read_values
from regard.serving.catalogue import Catalogue
from regard.serving.guard import GONE, Guard, Note, Warn
from regard.serving.metrics import CONTENT_TYPE, Metrics
from regard.serving.openapi import EVENTS, document
from regard.serving.options import Access, ServingOptions
from regard.serving.questions import AttentionQuestion, BeamQuestion, NextQuestion, TranslateQuestion
from regard.serving.refusals import Refusal, read_request
from regard.serving.replies import Event, EventStream, Gone, error_response, json_response, refusal_of, unless_gone
from regard.serving.static import INDEX, page_files
from regard.serving.translating import ServedJob, all_finished, events, prepare, translate_answer

Endpoint = Callable[["Service", Request], Awaitable[Response]]
Reader = Callable[[Request, int], Awaitable[dict[str, Any]]]


class Service:
    """What all endpoints share."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue, self.limits, self.access = catalogue, catalogue.options.limits, catalogue.options.access
        self.metrics, self.files, self.description = catalogue.metrics, page_files(), document()

    def authorise(self, request: Request, given: Any) -> None:
        """Refuse who does not know the key, where there is one; it comes in the body, or as a bearer's."""
        if self.access.key is None:
            return
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        key = given or (_as_text(token) if scheme.lower() == "bearer" else "")
        if not key:
            raise Refusal(400, "Please contact the server operator to get an API key")
        if not isinstance(key, str) or not hmac.compare_digest(key.encode(), self.access.key.encode()):
            raise Refusal(403, "Invalid API key")

    async def read(self, request: Request, how: Reader) -> dict[str, Any]:
        """What a request says; who says it too slowly is not waited for."""
        async with asyncio.timeout(self.limits.seconds):
            return await how(request, self.limits.body)

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


# LibreTranslate's interface


async def libre_translate(service: Service, request: Request) -> Response:
    values = await service.read(request, read_values)
    service.authorise(request, values.get("api_key"))
    texts = libre.texts_of(values)
    service.note(request, texts)
    return json_response(await service.answer(request, libre.translate(service.catalogue, values)))


async def libre_detect(service: Service, request: Request) -> Response:
    values = await service.read(request, read_values)
    service.authorise(request, values.get("api_key"))
    service.note(request, libre.texts_of(values))
    return json_response(await asyncio.to_thread(libre.detect, service.catalogue, values))


async def libre_languages(service: Service, request: Request) -> Response:
    return json_response(libre.languages(service.catalogue))


async def libre_settings(service: Service, request: Request) -> Response:
    return json_response(libre.settings(service.catalogue))


async def libre_files(service: Service, request: Request) -> Response:
    raise Refusal(403, "Files translation are disabled on this server.")


async def libre_suggest(service: Service, request: Request) -> Response:
    raise Refusal(403, "Suggestions are disabled on this server.")


async def health(service: Service, request: Request) -> Response:
    _check_workers(service)
    return json_response({"status": "ok"})


async def ready(service: Service, request: Request) -> Response:
    """Whether to send requests here; the guard refuses this one too when the server is shutting down."""
    _check_workers(service)
    return json_response({"status": "ready"})


def _check_workers(service: Service) -> None:
    stopped = [name for name, worker in service.catalogue.workers.items() if not worker.is_alive]
    if stopped:
        raise Refusal(503, f"{' and '.join(stopped)} stopped working; the server must be started again.", 60)


# Our own


async def models(service: Service, request: Request) -> Response:
    return json_response(service.catalogue.describe())


async def translate(service: Service, request: Request) -> Response:
    table = await service.read(request, read_json)
    service.authorise(request, table.get("api_key"))
    question = read_request(TranslateQuestion, table)
    wants_events = question.stream or EVENTS in request.headers.get("accept", "")
    job = await prepare(service.catalogue, question)
    service.note(request, question.text, model=job.model.name, sentences=len(job.pieces))
    if wants_events:
        return EventStream(_events(service, job), lambda error: _note_failure(request, error))
    return json_response(await service.answer(request, _whole(service, job)))


async def _whole(service: Service, job: ServedJob) -> Any:
    return translate_answer(job, await all_finished(service.catalogue, job))


async def _events(service: Service, job: ServedJob) -> AsyncGenerator[Event, None]:
    async with asyncio.timeout(service.limits.seconds), aclosing(events(service.catalogue, job)) as coming:
        async for event in coming:
            yield event


async def attention(service: Service, request: Request) -> Response:
    return await _view(service, request, AttentionQuestion, "attention")


async def next_token(service: Service, request: Request) -> Response:
    return await _view(service, request, NextQuestion, "next_token")


async def beam(service: Service, request: Request) -> Response:
    return await _view(service, request, BeamQuestion, "beam")


async def _view(service: Service, request: Request, kind: Any, name: Literal["attention", "next_token", "beam"]) -> Any:
    table = await service.read(request, read_json)
    service.authorise(request, table.get("api_key"))
    question = read_request(kind, table)
    model, _ = await asyncio.to_thread(service.catalogue.chosen, question, question.text)
    service.note(request, [question.text], model=model.name)

    def look() -> bytes:
        from regard.serving import views  # torch is loaded when someone first looks

        return getattr(views, name)(model, question, service.limits).model_dump_json().encode()

    content = await service.answer(request, service.catalogue.workers[model.name].one(look))
    return Response(content, 200, {"Cache-Control": "no-store"}, "application/json")


# The page and what is about the server itself


async def page(service: Service, request: Request) -> Response:
    name = request.path_params.get("name", INDEX)
    file = service.files.get(name)
    if file is None:
        raise HTTPException(404)
    headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(None, 304, headers)
    return Response(file.content, 200, headers, file.kind)


async def favicon(service: Service, request: Request) -> Response:
    name = next((name for name in ("favicon.ico", "favicon.svg") if name in service.files), "")
    request.path_params["name"] = name
    return await page(service, request)


async def metrics(service: Service, request: Request) -> Response:
    service.authorise(request, None)
    return Response(service.metrics.text(), 200, {"Cache-Control": "no-store"}, CONTENT_TYPE)


async def openapi(service: Service, request: Request) -> Response:
    return json_response(service.description)


ROUTES: tuple[tuple[str, str, Endpoint], ...] = (
    ("POST", "/translate", libre_translate),
    ("POST", "/detect", libre_detect),
    ("GET", "/languages", libre_languages),
    ("GET", "/frontend/settings", libre_settings),
    ("POST", "/translate_file", libre_files),
    ("POST", "/suggest", libre_suggest),
    ("GET", "/health", health),
    ("GET", "/ready", ready),
    ("GET", "/v1/models", models),
    ("POST", "/v1/translate", translate),
    ("POST", "/v1/attention", attention),
    ("POST", "/v1/next", next_token),
    ("POST", "/v1/beam", beam),
    ("GET", "/", page),
    ("GET", "/page/{name}", page),
    ("GET", "/favicon.ico", favicon),
    ("GET", "/metrics", metrics),
    ("GET", "/openapi.json", openapi),
)


def make_app(
    folders: Sequence[Path],
    options: ServingOptions | None = None,
    engine: Choice = "auto",
    note: Note | None = None,
    warn: Warn = lambda sentence: None,
) -> Guard:
    """The application over some model folders, which are loaded here.

    `note` hears of every request, and `warn` of what whoever runs the server should know.
    """
    counts, options = Metrics(), options or ServingOptions()
    catalogue = Catalogue(folders, options, counts, engine)
    service = Service(catalogue)
    for name in catalogue.sharing_shortlists:
        warn(
            f"{name} has a shortlist, which the sentences of a batch share; now and then an answer depends on what "
            "else is asked for at the same time."
        )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(catalogue.close)

    app = Starlette(
        routes=[Route(path, _answered(service, endpoint), methods=[method]) for method, path, endpoint in ROUTES],
        middleware=_middleware(options.access),
        exception_handlers={HTTPException: _http_error, Exception: _own_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return Guard(app, options, counts, note, warn)


def _middleware(access: Access) -> list[Middleware]:
    if not access.origins:
        return []
    methods, headers = ["GET", "POST"], ["Authorization", "Content-Type"]
    return [Middleware(CORSMiddleware, allow_origins=access.origins, allow_methods=methods, allow_headers=headers)]


def _answered(service: Service, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint that answers whatever happens inside it."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(service, request)
        except HTTPException:
            raise
        except Exception as error:
            _note_failure(request, error)
            return error_response(error)

    return answer


def _note_failure(request: Request, error: BaseException) -> None:
    """Say in the log what went wrong; only what is a fault of ours is shown with where it happened."""
    if isinstance(error, Gone):
        request.state.note["status"] = GONE
        return
    refusal = refusal_of(error)
    request.state.note["status"] = refusal.status
    if refusal.status == 500:
        frames = traceback.extract_tb(error.__traceback__)[-3:]
        request.state.note["fault"] = type(error).__name__
        request.state.note["where"] = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames]


_SENTENCES = {404: "There is nothing at this address.", 405: "This address is asked in another way."}


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = _SENTENCES.get(error.status_code, str(error.detail))
    return json_response({"error": sentence}, error.status_code, dict(error.headers or {}))


async def _own_error(request: Request, error: Exception) -> Response:
    """What goes wrong outside of every endpoint, as in the sending of an answer."""
    _note_failure(request, error)
    return error_response(error)
