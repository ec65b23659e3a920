"""What requests to /v1 hold: what is asked of a verb, and of which model; the description is made from these."""

from pydantic import Field

from regard.verbs.requests.look import AttentionRequest, BeamRequest, NextRequest
from regard.verbs.requests.rules import VerbRequest
from regard.verbs.requests.translate import TranslateRequest


class Question(VerbRequest):
    """Which model is asked."""

    model: str | None = Field(default=None, description="The name of a model; without it, the languages choose.")
    source: str | None = Field(default=None, description="The language of the text, or auto.")
    target: str | None = Field(default=None, description="The language to translate into.")
    api_key: str | None = Field(default=None, description="The key, where one is needed.")


class TranslateQuestion(TranslateRequest, Question):
    """What is to be translated, by which model and how; what is not given is as the model's recipe says."""

    stream: bool = Field(default=False, description="Answer sentence by sentence, by server-sent events.")


class AttentionQuestion(AttentionRequest, Question):
    """Which attention is wanted, of which model, for one sentence."""


class NextQuestion(NextRequest, Question):
    """The place at which the next token is wanted: after tokens, after a text, or along the best output."""


class BeamQuestion(BeamRequest, Question):
    """The beam search that is wanted as a tree, for one sentence."""
