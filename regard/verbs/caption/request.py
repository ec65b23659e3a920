"""Requests for captions."""

from pydantic import Field

from regard.base.requests.fields import Count, InHand, LengthPenalty
from regard.base.requests.rules import Clash, VerbRequest
from regard.decoding.options import DrawOptions
from regard.verbs.answer.request import PictureInput

_DRAWN = "A beam and its length penalty are for a search; a sampled caption uses neither."


class CaptionRequest(VerbRequest):
    """The pictures that captions are wanted of, and how these are searched for."""

    verb, items = "caption", "pictures"
    rules = (Clash("sample", ("beam", "length_penalty"), _DRAWN),)

    pictures: list[PictureInput | InHand] = Field(min_length=1, description="Files of pictures.")
    beam: Count | None = Field(default=None, description="Width of the beam; 1 is greedy. By default the recipe's.")
    length_penalty: LengthPenalty | None = Field(default=None, description="Alpha of the length penalty.")
    sample: DrawOptions | None = Field(default=None, description="How captions are drawn at random, if they are.")
    attention: bool = Field(
        default=True, description="Whether to say where each word looked, which takes one more pass over each caption."
    )
