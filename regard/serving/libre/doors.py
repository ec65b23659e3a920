"""The addresses that LibreTranslate's clients know."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from regard.base.doors import FORM, JSON
from regard.serving.flow import OwnDoor, Service
from regard.serving.http.bodies import read_values
from regard.serving.http.refusals import Refusal
from regard.serving.http.replies import json_response
from regard.serving.libre import interface
from regard.serving.libre.records import (
    LibreAnswer,
    LibreBody,
    LibreDetectBody,
    LibreDetection,
    LibreLanguage,
    LibreSettings,
)


async def translate(service: Service, request: Request) -> Response:
    values = await service.read(request, read_values)
    service.note(request, interface.texts_of(values))
    return json_response(await service.answer(request, interface.translate(service.catalogue, values)))


async def detect(service: Service, request: Request) -> Response:
    values = await service.read(request, read_values)
    service.note(request, interface.texts_of(values))
    return json_response(await asyncio.to_thread(interface.detect, service.catalogue, values))


async def languages(service: Service, request: Request) -> Response:
    return json_response(interface.languages(service.catalogue))


async def settings(service: Service, request: Request) -> Response:
    return json_response(interface.settings(service.catalogue))


async def refuse_files(service: Service, request: Request) -> Response:
    raise Refusal(403, "File translation is disabled on this server.")


async def refuse_suggestions(service: Service, request: Request) -> Response:
    raise Refusal(403, "Suggestions are disabled on this server.")


DOORS = (
    OwnDoor(
        path="/translate",
        endpoint=translate,
        can="translate",
        summary="Translate.",
        answer=LibreAnswer,
        body=LibreBody,
        body_kinds=(JSON, FORM),
        works_as="/v1/translate",
    ),
    OwnDoor(
        path="/detect",
        endpoint=detect,
        can="translate",
        summary="Find the language of a text, among those that are served.",
        answer=LibreDetection,
        is_list=True,
        body=LibreDetectBody,
        body_kinds=(JSON, FORM),
    ),
    OwnDoor(
        method="GET",
        path="/languages",
        endpoint=languages,
        can="translate",
        summary="The languages, and what each can be translated into.",
        answer=LibreLanguage,
        is_list=True,
    ),
    OwnDoor(
        method="GET",
        path="/frontend/settings",
        endpoint=settings,
        can="translate",
        summary="What a page should know.",
        answer=LibreSettings,
    ),
    OwnDoor(path="/translate_file", endpoint=refuse_files, can="translate"),
    OwnDoor(path="/suggest", endpoint=refuse_suggestions, can="translate"),
)
