"""The application: its doors, and its error handling."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from regard.base.doors import Door
from regard.engines.fast import Choice
from regard.serving.about import about_doors
from regard.serving.catalogue import Catalogue, open_models
from regard.serving.flow import Endpoint, OwnDoor, Service, endpoint_of
from regard.serving.http.guard import Guard, Note, Warn
from regard.serving.http.replies import ERROR_HANDLERS, error_response, json_response, note_failure
from regard.serving.libre import doors as libre
from regard.serving.metrics import Metrics
from regard.serving.openapi import document
from regard.serving.options import Access, ServingOptions
from regard.serving.served import Served
from regard.verbs.table import verb_doors


def every_door() -> list[Door]:
    """Return all doors, open or not."""
    return [*libre.DOORS, *verb_doors(), *about_doors()]


def make_app(
    folders: Sequence[Path],
    options: ServingOptions | None = None,
    engine: Choice = "auto",
    note: Note | None = None,
    warn: Warn = lambda sentence: None,
    counts: Metrics | None = None,
) -> Guard:
    """Load some model folders and return the application that serves them."""
    return app_of(open_models(folders, engine), options, note, warn, counts)


def app_of(
    models: Sequence[Served],
    options: ServingOptions | None = None,
    note: Note | None = None,
    warn: Warn = lambda sentence: None,
    counts: Metrics | None = None,
) -> Guard:
    """Return the application that serves some models.

    `note` is called for every request, and `warn` with messages for the operator; `counts` are its own metrics unless
    they are shared with other processes.
    """
    counts, options = counts or Metrics(), options or ServingOptions()
    catalogue = Catalogue(models, options, counts)
    service = Service(catalogue)
    for clause in catalogue.dependences:
        warn(f"{clause}, so an answer occasionally depends on other requests at the same time.")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(catalogue.close)

    app = Starlette(
        routes=_routes(service),
        middleware=_middleware(options.access),
        exception_handlers=ERROR_HANDLERS,
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return Guard(app, options, counts, note, warn)


def _routes(service: Service) -> list[Route]:
    """Return the routes of all doors; the API description lists only those with a model behind them."""
    doors, abilities = every_door(), service.catalogue.abilities
    described = [door for door in doors if door.can is None or door.can in abilities]
    description = cache(lambda: document(described))  # lazily: most servers are never asked for it

    async def describe(service: Service, request: Request) -> Response:
        return json_response(description())

    doors.append(OwnDoor(method="GET", path="/openapi.json", endpoint=describe))
    return [
        Route(door.path, _answering(service, endpoint_of(door, service.catalogue)), methods=[door.method])
        for door in doors
    ]


def _middleware(access: Access) -> list[Middleware]:
    if not access.origins:
        return []
    methods, headers = ["GET", "POST"], ["Authorization", "Content-Type"]
    return [Middleware(CORSMiddleware, allow_origins=access.origins, allow_methods=methods, allow_headers=headers)]


def _answering(service: Service, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that turns every exception into an answer."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(service, request)
        except HTTPException:
            raise
        except Exception as error:
            note_failure(request, error)
            return error_response(error)

    return answer
