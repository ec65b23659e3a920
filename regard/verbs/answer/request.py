"""Requests for answers."""

import json
from typing import Annotated, Any

from pydantic import Field

from regard.base.recipe import Options
from regard.base.requests.fields import Base64, Count, InHand, content_of
from regard.base.requests.rules import Clash, VerbRequest
from regard.engines.fast import CANNOT, TextChoice
from regard.verbs.transcribe.request import SoundInput


class PictureInput(Options):
    """A picture."""

    picture: Base64 = Field(description="A PNG or JPEG file, or a GIF for a video, in base64.")

    @property
    def content(self) -> bytes:
        return content_of(self.picture)


class DrawingInput(Options):
    """A drawing."""

    drawing: list[list[list[float]]] = Field(description="Strokes, each a list of points [x, y].")

    @property
    def content(self) -> bytes:
        return json.dumps(self.drawing).encode()


_Number = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # of a node
Input = str | _Number | PictureInput | SoundInput | DrawingInput


class AnswerRequest(VerbRequest):
    """Inputs to answer, one answer for each."""

    verb, items = "answer", "inputs"
    rules = (Clash("engine", ("beam", "tagger"), CANNOT % "onnxruntime", values=("onnx",)),)

    inputs: list[Input | InHand] = Field(
        min_length=1, description="What the model reads: texts, words, node numbers, pictures, drawings."
    )
    beam: Count | None = Field(
        default=None,
        description="Beam size, for taggers that choose each tag knowing the one before; 1 is greedy search.",
    )
    raw: bool = Field(
        default=False, description="For taggers: split sentences into words and punctuation, not only at spaces."
    )
    tagger: str | list[str] | list[InHand] | None = Field(
        default=None,
        description="The tagger for another column that the model reads, such as parts of speech, or one for each "
        "column; by default those of the served models that give matching tags.",
    )
    engine: TextChoice = Field(
        default="auto", description="Engine for models that read text; auto uses an ONNX export if there is one."
    )
    as_is: bool = Field(default=False, description="Refuse pictures of the wrong size instead of scaling them.")

    @property
    def taggers(self) -> list[Any]:
        """The taggers in the request: their names, or the models themselves."""
        return [self.tagger] if isinstance(self.tagger, str) else list(self.tagger or [])
