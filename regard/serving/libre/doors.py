"""The addresses of LibreTranslate's API, with their requests and answers."""

import asyncio
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from regard.base.doors import FORM, JSON, DoorAnswer
from regard.serving.flow import OwnDoor, Service
from regard.serving.http.bodies import read_values
from regard.serving.http.refusals import Refusal
from regard.serving.http.replies import json_response
from regard.serving.libre import interface
from regard.serving.records import Language

Texts = Annotated[str, Field(min_length=1)] | Annotated[list[str], Field(min_length=1)]


class LibreBody(BaseModel):
    """Body of LibreTranslate's /translate."""

    model_config = ConfigDict(extra="allow")

    q: Texts = Field(description="A text; in JSON also a list of texts.")
    source: str = Field(description="The language of the text, or auto.", min_length=1)
    target: str = Field(description="The language to translate into.", min_length=1)
    format: Literal["text", "html", ""] | None = Field(
        default="text", description="Format of q: plain text or HTML; empty is plain text."
    )
    alternatives: Annotated[int, Field(ge=0)] | Annotated[str, Field(pattern="^[0-9]*$")] | None = Field(
        default=0, description="Number of alternative translations; forms give the number as text."
    )
    api_key: Any = Field(default=None, description="The key, where one is needed; elsewhere it is not looked at.")


class LibreDetectBody(BaseModel):
    """Body of /detect."""

    model_config = ConfigDict(extra="allow")

    q: Texts = Field(description="A text in one language; in JSON also a list of texts.")
    api_key: Any = Field(default=None, description="The key, where one is needed; elsewhere it is not looked at.")


class LibreDetection(DoorAnswer):
    """A language, and the confidence."""

    confidence: float = Field(ge=0, le=100)
    language: str


class LibreAnswer(DoorAnswer):
    """Answer of /translate; the last two fields are present only if requested."""

    translated_text: str | list[str] = Field(alias="translatedText")
    detected_language: LibreDetection | list[LibreDetection] = Field(
        default=LibreDetection(confidence=0, language=""), alias="detectedLanguage"
    )
    alternatives: list[str] | list[list[str]] = Field(default=[])


class LibreLanguage(Language):
    """A language and its possible targets."""

    targets: list[str]


class LibreSettings(BaseModel):
    """Settings that LibreTranslate's page requests first."""

    char_limit: int = Field(alias="charLimit")
    frontend_timeout: int = Field(alias="frontendTimeout")
    api_keys: bool = Field(alias="apiKeys")
    key_required: bool = Field(alias="keyRequired")
    suggestions: bool
    files_translation: bool = Field(alias="filesTranslation")
    supported_files_format: list[str] = Field(alias="supportedFilesFormat")
    language: dict[Literal["source", "target"], Language]


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
        summary="Detect the language of a text, among the served ones.",
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
        summary="The languages, and the possible targets of each.",
        answer=LibreLanguage,
        is_list=True,
    ),
    OwnDoor(
        method="GET",
        path="/frontend/settings",
        endpoint=settings,
        can="translate",
        summary="Settings for a page.",
        answer=LibreSettings,
    ),
    OwnDoor(path="/translate_file", endpoint=refuse_files, can="translate"),
    OwnDoor(path="/suggest", endpoint=refuse_suggestions, can="translate"),
)
