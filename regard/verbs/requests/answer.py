"""What may be asked when a model answers: which inputs, as people have them."""

import json
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from regard.base.recipe import Options
from regard.verbs.requests.fields import Base64, Count, content_of
from regard.verbs.requests.rules import VerbRequest
from regard.verbs.requests.transcribe import SoundInput


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


_OBJECTS: dict[str, type[Options]] = {"picture": PictureInput, "sound": SoundInput, "drawing": DrawingInput}


def _read_input(value: Any) -> Any:
    """An object by the one name in it, so that what is wrong with it is told of it alone and not of every kind."""
    if isinstance(value, dict) and len(value) == 1 and (kind := _OBJECTS.get(next(iter(value)))):
        return kind.model_validate(value)
    if isinstance(value, str | int | Options) and not isinstance(value, bool):
        return value
    raise ValueError(f"expected a text, a whole number, or an object with one of {', '.join(map(repr, _OBJECTS))}")


Input = Annotated[str | int | PictureInput | SoundInput | DrawingInput, BeforeValidator(_read_input)]


class AnswerRequest(VerbRequest):
    """What is to be answered, one answer for each."""

    inputs: list[Input] = Field(
        min_length=1, description="What the model reads: texts, words, numbers of nodes, pictures, drawings."
    )
    beam: Count | None = Field(
        default=None, description="Width of the beam, for tags that are chosen knowing the one before; 1 is greedy."
    )
    raw: bool = Field(
        default=False, description="Cut sentences to tag into words and punctuation marks, and not just at spaces."
    )
