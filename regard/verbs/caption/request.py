"""What may be asked when a model says what pictures show."""

from pydantic import Field

from regard.base.requests.fields import Count, LengthPenalty
from regard.base.requests.rules import VerbRequest
from regard.verbs.answer.request import PictureInput


class CaptionRequest(VerbRequest):
    """The pictures that captions are wanted of, and how these are searched for."""

    pictures: list[PictureInput] = Field(min_length=1, description="Files of pictures.")
    beam: Count | None = Field(default=None, description="Width of the beam; 1 is greedy. By default the recipe's.")
    length_penalty: LengthPenalty | None = Field(default=None, description="Alpha of the length penalty.")
    attention: bool = Field(
        default=True, description="Whether to say where each word looked, which takes one more pass over each caption."
    )
