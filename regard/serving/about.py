"""The doors of the server itself: health, models, page, metrics and API description."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from regard.base.doors import TEXT
from regard.serving.cards import Cards
from regard.serving.flow import Endpoint, OwnDoor, Service
from regard.serving.http.refusals import Refusal
from regard.serving.http.replies import json_response
from regard.serving.metrics import CONTENT_TYPE
from regard.serving.records import Health, ModelsAnswer, Readiness
from regard.serving.static import DOCS, INDEX, page_files


async def health(service: Service, request: Request) -> Response:
    _check_workers(service)
    return json_response({"status": "ok"})


async def ready(service: Service, request: Request) -> Response:
    """Answer whether requests may be sent here; the guard refuses this request too while the server shuts down."""
    _check_workers(service)
    return json_response({"status": "ready"})


def _check_workers(service: Service) -> None:
    stopped = [name for name, worker in service.catalogue.workers.items() if not worker.is_alive]
    if stopped:
        raise Refusal(503, f"{' and '.join(stopped)} stopped working; the server must be started again.", 60)


async def models(service: Service, request: Request) -> Response:
    return json_response(service.catalogue.describe())


async def metrics(service: Service, request: Request) -> Response:
    service.authorise(request, None)
    return Response(service.catalogue.metrics.text(), 200, {"Cache-Control": "no-store"}, CONTENT_TYPE)


def _page() -> Endpoint:
    files = page_files()

    async def page(service: Service, request: Request) -> Response:
        file = files.get(request.path_params.get("name", INDEX))
        if file is None:
            raise HTTPException(404)
        return file.reply(request)

    return page


def about_doors() -> list[OwnDoor]:
    """Return the doors that are open whatever the models can do."""
    page, cards = _page(), Cards()

    async def favicon(service: Service, request: Request) -> Response:
        request.path_params["name"] = "favicon.svg"
        return await page(service, request)

    async def docs(service: Service, request: Request) -> Response:
        request.path_params["name"] = DOCS
        return await page(service, request)

    def get(path: str, endpoint: Endpoint, **fields: Any) -> OwnDoor:
        return OwnDoor(method="GET", path=path, endpoint=endpoint, **fields)

    return [
        get("/health", health, summary="Whether the server and its worker threads are alive.", answer=Health),
        get("/ready", ready, summary="Whether the server accepts requests.", answer=Readiness),
        get("/v1/models", models, summary="The served models, and the limits.", answer=ModelsAnswer),
        get("/metrics", metrics, summary="Metrics for Prometheus.", other_kinds=(TEXT,), may_fail=(400,)),
        get("/", page),
        get("/docs", docs),
        get("/card", cards.page),
        get("/card.md", cards.file),
        get("/page/{name:path}", page),
        get("/favicon.ico", favicon),
    ]
