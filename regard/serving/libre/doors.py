"""The addresses that LibreTranslate's clients know."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from regard.serving.doors.door import FORM, JSON, Door, Service
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
    Door(
        "POST", "/translate", translate, "translate", "Translate.", LibreAnswer,
        body=LibreBody, body_kinds=(JSON, FORM),
    ),
    Door(
        "POST", "/detect", detect, "translate", "Find the language of a text, among those that are served.",
        LibreDetection, is_list=True, body=LibreDetectBody, body_kinds=(JSON, FORM),
    ),
    Door(
        "GET", "/languages", languages, "translate", "The languages, and what each can be translated into.",
        LibreLanguage, is_list=True,
    ),
    Door("GET", "/frontend/settings", settings, "translate", "What a page should know.", LibreSettings),
    Door("POST", "/translate_file", refuse_files, "translate"),
    Door("POST", "/suggest", refuse_suggestions, "translate"),
)  # fmt: skip
