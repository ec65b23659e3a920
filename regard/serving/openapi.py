"""The description of the interface (OpenAPI 3.1), made from the records that requests and answers are checked by."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

from regard import __version__
from regard.serving import questions, records

JSON, FORM, TEXT, EVENTS = "application/json", "application/x-www-form-urlencoded", "text/plain", "text/event-stream"
_WRONG = {
    400: "Something is wrong with the request.",
    403: "The key is wrong, or this is switched off.",
    413: "The request or its answer is too large.",
    415: "The body is of a kind that is not read here.",
    421: "The server is not called by that name.",
    429: "Too many requests; Retry-After says when to ask again.",
    500: "A fault of the server's own.",
    503: "Too much to do, shutting down, or a model has stopped; Retry-After says when to ask again.",
    504: "It took too long.",
}
_OTHER: dict[str, Any] = {
    TEXT: {"type": "string"},
    EVENTS: {  # each event
        "type": "object",
        "properties": {
            "event": {"enum": ["start", "sentence", "translation", "done", "error"]},
            "data": {"type": "string", "contentMediaType": JSON},
        },
        "required": ["event", "data"],
    },
}
_OF_ALL = (403, 421, 429, 500, 503)
_OF_QUESTIONS = (400, 413, 415, 504)


Texts = Annotated[str, Field(min_length=1)] | Annotated[list[str], Field(min_length=1)]


class LibreQuestion(BaseModel):
    """What LibreTranslate's clients send to /translate."""

    model_config = ConfigDict(extra="allow")

    q: Texts = Field(description="A text, or in JSON several.")
    source: str = Field(description="The language of the text, or auto.", min_length=1)
    target: str = Field(description="The language to translate into.", min_length=1)
    format: Literal["text", "html", ""] | None = Field(
        default="text", description="Whether q is plain text or HTML; empty is plain text."
    )
    alternatives: Annotated[int, Field(ge=0)] | Annotated[str, Field(pattern="^[0-9]*$")] | None = Field(
        default=0, description="How many other translations are wanted; forms have the number as text."
    )
    api_key: Any = Field(default=None, description="The key, where one is needed; elsewhere it is not looked at.")


class LibreDetectQuestion(BaseModel):
    """What they send to /detect."""

    model_config = ConfigDict(extra="allow")

    q: Texts = Field(description="A text, or in JSON several, of one language.")
    api_key: Any = Field(default=None, description="The key, where one is needed; elsewhere it is not looked at.")


class LibreDetection(records.Answer):
    """A language, and how sure that is."""

    confidence: float = Field(ge=0, le=100)
    language: str


class LibreAnswer(records.Answer):
    """What they get from /translate; the last two only where they were asked for."""

    translated_text: str | list[str] = Field(alias="translatedText")
    detected_language: LibreDetection | list[LibreDetection] = Field(
        default=LibreDetection(confidence=0, language=""), alias="detectedLanguage"
    )
    alternatives: list[str] | list[list[str]] = Field(default=[])


class LibreLanguage(records.Language):
    """A language and what it can be translated into."""

    targets: list[str]


class LibreSettings(BaseModel):
    """What a page of theirs asks for first."""

    char_limit: int = Field(alias="charLimit")
    frontend_timeout: int = Field(alias="frontendTimeout")
    api_keys: bool = Field(alias="apiKeys")
    key_required: bool = Field(alias="keyRequired")
    suggestions: bool
    files_translation: bool = Field(alias="filesTranslation")
    supported_files_format: list[str] = Field(alias="supportedFilesFormat")
    language: dict[Literal["source", "target"], records.Language]


class Health(records.Answer):
    """That the server is there."""

    status: Literal["ok"]


class Readiness(records.Answer):
    """That it takes requests."""

    status: Literal["ready"]


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked."""

    method: Literal["get", "post"]
    path: str
    summary: str
    answer: type[BaseModel] | None = None
    is_list: bool = False
    question: type[BaseModel] | None = None
    bodies: tuple[str, ...] = (JSON,)
    also: tuple[str, ...] = ()  # other kinds of answers
    may_fail: tuple[int, ...] = ()  # in what other ways than all do


OPERATIONS = (
    Operation("post", "/translate", "Translate.", LibreAnswer, question=LibreQuestion, bodies=(JSON, FORM)),
    Operation(
        "post", "/detect", "Find out the language of a text, among those that are served.", LibreDetection, True,
        LibreDetectQuestion, (JSON, FORM),
    ),
    Operation("get", "/languages", "The languages, and what each can be translated into.", LibreLanguage, True),
    Operation("get", "/frontend/settings", "What a page should know.", LibreSettings),
    Operation("get", "/health", "Whether the server and all that works in it are alive.", Health),
    Operation("get", "/ready", "Whether to send requests here.", Readiness),
    Operation("get", "/v1/models", "The models that are served, and the limits.", records.ModelsAnswer),
    Operation(
        "post", "/v1/translate", "Translate with everything that the command line can do.", records.TranslateAnswer,
        question=questions.TranslateQuestion, also=(EVENTS,),
    ),
    Operation(
        "post", "/v1/attention", "What every block and head looked at.", records.AttentionAnswer,
        question=questions.AttentionQuestion,
    ),
    Operation(
        "post", "/v1/next", "The distribution of the next token.", records.NextAnswer, question=questions.NextQuestion
    ),
    Operation("post", "/v1/beam", "The beam as a tree.", records.BeamAnswer, question=questions.BeamQuestion),
    Operation("get", "/metrics", "Counts for Prometheus.", also=(TEXT,), may_fail=(400,)),
)  # fmt: skip


def document() -> dict[str, Any]:
    """The whole description."""
    modes: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [(records.Error, "serialization")]
    for operation in OPERATIONS:
        if operation.question is not None:
            modes.append((operation.question, "validation"))
        if operation.answer is not None:
            modes.append((operation.answer, "serialization"))
    references, definitions = models_json_schema(modes, ref_template="#/components/schemas/{model}")
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation, references)
    return {
        "openapi": "3.1.0",
        "info": {"title": "regard", "version": __version__, "summary": "Translation, and why it came out so."},
        "paths": paths,
        "components": {"schemas": definitions.get("$defs", {})},
    }


def _described(operation: Operation, references: Any) -> dict[str, Any]:
    statuses = [*_OF_ALL, *(_OF_QUESTIONS if operation.question else ()), *operation.may_fail]
    error = {JSON: {"schema": references[records.Error, "serialization"]}}
    responses: dict[str, Any] = {"200": {"description": "The answer.", "content": _content(operation, references)}}
    responses |= {str(status): {"description": _WRONG[status], "content": error} for status in sorted(statuses)}
    described: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": _identifier(operation.method, operation.path),
        "responses": responses,
    }
    if operation.question is not None:
        schema = references[operation.question, "validation"]
        content = {kind: {"schema": schema} for kind in operation.bodies}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _content(operation: Operation, references: Any) -> dict[str, Any]:
    content: dict[str, Any] = {kind: {"schema": _OTHER[kind]} for kind in operation.also}
    if operation.answer is not None:
        schema = references[operation.answer, "serialization"]
        content[JSON] = {"schema": {"type": "array", "items": schema} if operation.is_list else schema}
    return content


def _identifier(method: str, path: str) -> str:
    words: Sequence[str] = [word for word in path.replace("/", " ").split() if word]
    return "_".join([method, *words])
