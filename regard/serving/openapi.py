"""The API description (OpenAPI 3.1), generated from the classes that validate requests and answers."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from regard.base.doors import EVENTS, JSON, TEXT, Door
from regard.base.version import __version__
from regard.serving.records import Error

_WRONG = {
    400: "Something is wrong with the request.",
    403: "The key is wrong, or this is disabled.",
    413: "The request or its answer is too large.",
    415: "The body has an unsupported content type.",
    421: "The host name is not allowed.",
    429: "Too many requests; Retry-After says when to try again.",
    500: "Internal server error.",
    503: "Too busy, shutting down, or a model has stopped; Retry-After says when to try again.",
    504: "It took too long.",
}
_OTHER: dict[str, Any] = {
    TEXT: {"type": "string"},
    EVENTS: {  # each event
        "type": "object",
        "properties": {
            "event": {"enum": ["start", "sentence", "translation", "token", "done", "error"]},
            "data": {"type": "string", "contentMediaType": JSON},
        },
        "required": ["event", "data"],
    },
}
_OF_ALL = (403, 421, 429, 500, 503)
_OF_BODIES = (400, 413, 415, 504)


def document(doors: Sequence[Door]) -> dict[str, Any]:
    """Return the description of these doors."""
    described = [door for door in doors if door.summary]
    modes: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [(Error, "serialization")]
    for door in described:
        if door.body is not None:
            modes.append((door.body, "validation"))
        if door.answer is not None:
            modes.append((door.answer, "serialization"))
    references, definitions = models_json_schema(modes, ref_template="#/components/schemas/{model}")
    paths: dict[str, dict[str, Any]] = {}
    for door in described:
        paths.setdefault(door.path, {})[door.method.lower()] = _describe(door, references)
    return {
        "openapi": "3.1.0",
        "info": {"title": "regard", "version": __version__, "summary": "What attention models answer, and why."},
        "paths": paths,
        "components": {"schemas": definitions.get("$defs", {})},
    }


def _describe(door: Door, references: Any) -> dict[str, Any]:
    statuses = [*_OF_ALL, *(_OF_BODIES if door.body else ()), *door.may_fail]
    error = {JSON: {"schema": references[Error, "serialization"]}}
    responses: dict[str, Any] = {"200": {"description": "The answer.", "content": _content(door, references)}}
    responses |= {str(status): {"description": _WRONG[status], "content": error} for status in sorted(statuses)}
    operation: dict[str, Any] = {
        "summary": door.summary,
        "operationId": _identifier(door.method.lower(), door.path),
        "responses": responses,
    }
    if door.body is not None:
        schema = references[door.body, "validation"]
        content = {kind: {"schema": schema} for kind in door.body_kinds}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _content(door: Door, references: Any) -> dict[str, Any]:
    content: dict[str, Any] = {kind: {"schema": _OTHER[kind]} for kind in door.other_kinds}
    if door.answer is not None:
        schema = references[door.answer, "serialization"]
        content[JSON] = {"schema": {"type": "array", "items": schema} if door.is_list else schema}
    return content


def _identifier(method: str, path: str) -> str:
    words: Sequence[str] = [word for word in path.replace("/", " ").split() if word]
    return "_".join([method, *words])
