"""What requests to /v1 hold: what is asked of a verb, and of which model; the description is made from these."""

from base64 import b64decode
from typing import Annotated

from pydantic import AfterValidator, Field

from regard.base.recipe import Options
from regard.verbs.requests.look import AttentionRequest, BeamRequest, NextRequest
from regard.verbs.requests.rules import VerbRequest
from regard.verbs.requests.translate import TranslateRequest


def _check_base64(text: str) -> str:
    try:
        b64decode(text, validate=True)
    except ValueError:
        raise ValueError("it is not in base64") from None
    return text


class ModelBody(VerbRequest):
    """Which model is asked, and by whom."""

    model: str | None = Field(default=None, description="The name of a model; without it, the first that can.")
    api_key: str | None = Field(default=None, description="The key, where one is needed.")


class PictureInput(Options):
    """A picture."""

    picture: Annotated[str, AfterValidator(_check_base64)] = Field(
        description="Its file, as PNG or JPEG, in base64.", json_schema_extra={"contentEncoding": "base64"}
    )

    @property
    def content(self) -> bytes:
        return b64decode(self.picture)


Input = str | int | PictureInput


class AnswerBody(ModelBody):
    """What is to be answered, one answer for each."""

    inputs: list[Input] = Field(min_length=1, description="What the model reads: texts, numbers of nodes, pictures.")


class LanguagesBody(ModelBody):
    """Which translator is asked."""

    model: str | None = Field(default=None, description="The name of a model; without it, the languages choose.")
    source: str | None = Field(default=None, description="The language of the text, or auto.")
    target: str | None = Field(default=None, description="The language to translate into.")


class TranslateBody(TranslateRequest, LanguagesBody):
    """What is to be translated, by which model and how; what is not given is as the model's recipe says."""

    stream: bool = Field(default=False, description="Answer sentence by sentence, by server-sent events.")


class AttentionBody(AttentionRequest, LanguagesBody):
    """Which attention is wanted, of which model, for one sentence."""


class NextBody(NextRequest, LanguagesBody):
    """The place at which the next token is wanted: after tokens, after a text, or along the best output."""


class BeamBody(BeamRequest, LanguagesBody):
    """The beam search that is wanted as a tree, for one sentence."""
