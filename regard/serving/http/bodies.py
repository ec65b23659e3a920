"""Reading request bodies: JSON and forms, limited in size, with valid Unicode only."""

import json
import re
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from regard.serving.http.refusals import Refusal

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
_PARTS = "multipart/form-data"
_MOST_FIELDS = 100
_TOO_MANY = f"Invalid request: a form has at most {_MOST_FIELDS} fields."
_NOT_TEXT = "Invalid request: the text is not valid UTF-8."
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


async def read_body(request: Request, most: int) -> bytes:
    """Read a body; refuse it as soon as it is too large."""
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise Refusal(413, f"The request is larger than {most:,} bytes.")
            parts.append(part)
    except ClientDisconnect:
        raise Refusal(400, "The request ended before its body was complete.") from None
    return b"".join(parts)


def kind_of(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_json(request: Request, most: int) -> dict[str, Any]:
    """Read the object in a JSON body."""
    if kind_of(request) not in (_JSON, ""):
        raise Refusal(415, f"The body must be {_JSON}.")
    return parse_json(await read_body(request, most))


async def read_values(request: Request, most: int) -> dict[str, Any]:
    """Read the parameters of a request: from its JSON or form, and others from its query."""
    body, kind = await read_body(request, most), kind_of(request)
    query = dict(_pairs(request.url.query.encode()))
    if kind == _JSON:
        return query | parse_json(body)
    if body and kind not in (_FORM, _PARTS, ""):
        raise Refusal(415, f"The body must be {_JSON} or a form.")
    pairs = _pairs_in_parts(body, request.headers["content-type"]) if kind == _PARTS else _pairs(body)
    return query | {name: value.replace("\r\n", "\n") for name, value in pairs}


def _pairs(form: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(_decoded(form), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
    except UnicodeDecodeError:  # in an escape such as %ff
        raise Refusal(400, _NOT_TEXT) from None
    except ValueError:
        raise Refusal(400, _TOO_MANY) from None


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise Refusal(400, _NOT_TEXT) from None


def _pairs_in_parts(body: bytes, kind: str) -> list[tuple[str, str]]:
    """Read the fields of a multipart form; files, which have a name, are left out."""
    message = BytesParser(policy=HTTP).parsebytes(f"Content-Type: {kind}\r\n\r\n".encode("latin-1") + body)
    parts = list(message.iter_parts()) if message.is_multipart() else []
    if len(parts) > _MOST_FIELDS:
        raise Refusal(400, _TOO_MANY)
    fields = [(part.get_param("name", header="content-disposition"), part) for part in parts if not part.get_filename()]
    return [
        (name, _decoded(content))
        for name, part in fields
        if isinstance(name, str) and isinstance(content := part.get_payload(decode=True), bytes)
    ]


def parse_json(body: bytes) -> dict[str, Any]:
    """Parse a JSON object; lone surrogates become U+FFFD, which is valid text."""
    try:
        value = json.loads(body.decode(), parse_constant=_refuse_constant, parse_float=_number)
        table = _clean(value)
    except (ValueError, RecursionError):  # UnicodeDecodeError is a ValueError
        raise Refusal(400, "Invalid JSON format") from None
    if not isinstance(table, dict):
        raise Refusal(400, "Invalid request: the body must be a JSON object.")
    return table


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _number(digits: str) -> int | float:
    """Parse a number with a point or an exponent; 4.0 is a whole number in JSON."""
    value = float(digits)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(name): _clean(item) for name, item in value.items()}
    return value
