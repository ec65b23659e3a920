"""What LibreTranslate's clients send and get, for the description of the interface."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from regard.base.doors import DoorAnswer
from regard.serving.records import Language

Texts = Annotated[str, Field(min_length=1)] | Annotated[list[str], Field(min_length=1)]


class LibreBody(BaseModel):
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


class LibreDetectBody(BaseModel):
    """What they send to /detect."""

    model_config = ConfigDict(extra="allow")

    q: Texts = Field(description="A text, or in JSON several, of one language.")
    api_key: Any = Field(default=None, description="The key, where one is needed; elsewhere it is not looked at.")


class LibreDetection(DoorAnswer):
    """A language, and how sure that is."""

    confidence: float = Field(ge=0, le=100)
    language: str


class LibreAnswer(DoorAnswer):
    """What they get from /translate; the last two only where they were asked for."""

    translated_text: str | list[str] = Field(alias="translatedText")
    detected_language: LibreDetection | list[LibreDetection] = Field(
        default=LibreDetection(confidence=0, language=""), alias="detectedLanguage"
    )
    alternatives: list[str] | list[list[str]] = Field(default=[])


class LibreLanguage(Language):
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
    language: dict[Literal["source", "target"], Language]
