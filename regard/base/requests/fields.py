"""Types of fields that several requests have."""

from base64 import b64decode
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, InstanceOf, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

Count = Annotated[int, Field(ge=1, lt=2**31)]
LengthPenalty = Annotated[float, Field(ge=0, le=5)]


def content_of(text: str) -> bytes:
    """Decode base64."""
    return b64decode(text, validate=True)


def _check_base64(text: str) -> str:
    try:
        content_of(text)
    except ValueError:
        raise ValueError("it is not in base64") from None
    return text


Base64 = Annotated[str, AfterValidator(_check_base64), Field(json_schema_extra={"contentEncoding": "base64"})]


@dataclass(frozen=True)
class Held:
    """An object that only a program can pass, not JSON: a file name, an array, another model."""

    content: Any


InHand = SkipJsonSchema[InstanceOf[Held]]


def _to_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_ONE_OR_MORE = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
Texts = Annotated[list[str], BeforeValidator(_to_list), WithJsonSchema(_ONE_OR_MORE)]


def _refuse_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("it is blank; give some text")
    return text


# Python's white space, which differs from that of JSON Schema and of pydantic's patterns.
_INK = r"[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
Phrase = Annotated[str, AfterValidator(_refuse_blank), WithJsonSchema({"type": "string", "pattern": _INK})]
