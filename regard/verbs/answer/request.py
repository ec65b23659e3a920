"""Requests for answers: inputs as people have them."""

import json
from typing import Any

from pydantic import Field

from regard.base.recipe import Options
from regard.base.requests.fields import Base64, Count, InHand, content_of
from regard.base.requests.rules import VerbRequest
from regard.verbs.transcribe.request import SoundInput


class PictureInput(Options):
    """A picture."""

    picture: Base64 = Field(description="Its file, as PNG or JPEG, or a video as GIF, in base64.")

    @property
    def content(self) -> bytes:
        return content_of(self.picture)


class DrawingInput(Options):
    """A drawing."""

    drawing: list[list[list[float]]] = Field(description="Its strokes, each a list of points [x, y].")

    @property
    def content(self) -> bytes:
        return json.dumps(self.drawing).encode()


Input = str | int | PictureInput | SoundInput | DrawingInput


class AnswerRequest(VerbRequest):
    """Inputs to answer, one answer for each."""

    verb, items = "answer", "inputs"

    inputs: list[Input | InHand] = Field(
        min_length=1, description="What the model reads: texts, words, numbers of nodes, pictures, drawings."
    )
    beam: Count | None = Field(
        default=None, description="Width of the beam, for tags that are chosen knowing the one before; 1 is greedy."
    )
    raw: bool = Field(
        default=False, description="Cut sentences to tag into words and punctuation marks, and not just at spaces."
    )
    tagger: str | list[str] | list[InHand] | None = Field(
        default=None,
        description="The tagger that finds what the model reads beside words, as parts of speech, or one for each "
        "column; by default those among the models served that give the tags it knows.",
    )
    as_is: bool = Field(
        default=False, description="Refuse pictures of another size than the model reads, which are else made to fit."
    )

    @property
    def taggers(self) -> list[Any]:
        """The taggers that are given: their names, or the models themselves."""
        return [self.tagger] if isinstance(self.tagger, str) else list(self.tagger or [])
