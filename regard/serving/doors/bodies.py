"""What requests to /v1 hold: what is asked of a verb, and of which model; the description is made from these."""

from pydantic import Field, SecretStr

from regard.base.requests.rules import VerbRequest
from regard.verbs.answer.request import AnswerRequest, Input
from regard.verbs.caption.request import CaptionRequest
from regard.verbs.draw.request import DrawRequest
from regard.verbs.embed.request import EmbedRequest
from regard.verbs.generate.request import GenerateRequest, PromptRequest
from regard.verbs.look.request import AttentionRequest, BeamRequest, NextRequest
from regard.verbs.speak.request import SpeakRequest
from regard.verbs.transcribe.request import TranscribeRequest
from regard.verbs.translate.request import TranslateRequest
from regard.verbs.words.request import AnalogyRequest, MapRequest, NeighboursRequest


class ModelBody(VerbRequest):
    """Which model is asked, and by whom."""

    model: str | None = Field(default=None, description="The name of a model; without it, the first that can.")
    api_key: SecretStr | None = Field(default=None, description="The key, where one is needed.")


class AnswerBody(AnswerRequest, ModelBody):
    """What is to be answered, one answer for each, and by which model."""

    unfold: bool = Field(
        default=False, description="Answer a text with several aspects in brackets once for each of them."
    )


class GenerateBody(GenerateRequest, ModelBody):
    """What is to be gone on with, how, and by which model."""

    stream: bool = Field(
        default=False, description="Answer token by token, by server-sent events; for a single prompt."
    )


class PromptBody(PromptRequest, ModelBody):
    """A prompt, and by which model it is read."""


class EmbedBody(EmbedRequest, ModelBody):
    """The texts whose vectors are wanted, and by which model."""


class DrawBody(DrawRequest, ModelBody):
    """The drawings that are wanted, and of which model."""


class SpeakBody(SpeakRequest, ModelBody):
    """The texts that are to be spoken, and by which model."""


class NeighboursBody(NeighboursRequest, ModelBody):
    """The words whose neighbours are wanted, and of which model."""


class AnalogyBody(AnalogyRequest, ModelBody):
    """Three words of an analogy, of which the fourth is wanted, and of which model."""


class MapBody(MapRequest, ModelBody):
    """The words that are wanted on a map, and of which model."""


class TranscribeBody(TranscribeRequest, ModelBody):
    """The sounds that are to be written down, and by which model."""


class CaptionBody(CaptionRequest, ModelBody):
    """The pictures that captions are wanted of, and by which model."""


class LookBody(ModelBody):
    """The input whose reading is looked at."""

    input: Input = Field(description="What the model reads: a text, the number of a node, a picture, a sound.")
    speaker: str | None = Field(
        default=None, description="Who speaks, of a model that does; by default the first that it knows."
    )
    as_is: bool = Field(
        default=False, description="Refuse a picture of another size than the model reads, which is else made to fit."
    )


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
