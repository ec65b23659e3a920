"""Requests for captions."""

from pydantic import Field

from regard.base.requests.fields import Count, InHand, LengthPenalty
from regard.base.requests.rules import Clash, VerbRequest
from regard.decoding.options import DrawOptions
from regard.verbs.answer.request import PictureInput

_DRAWN = "A beam and its length penalty are for a search; a sampled caption uses neither."


class CaptionRequest(VerbRequest):
    """The pictures to caption, and how to search."""

    verb, items = "caption", "pictures"
    rules = (Clash("sample", ("beam", "length_penalty"), _DRAWN),)

    pictures: list[PictureInput | InHand] = Field(min_length=1, description="Picture files.")
    beam: Count | None = Field(default=None, description="Beam size; 1 is greedy search. By default the recipe's.")
    length_penalty: LengthPenalty | None = Field(default=None, description="Length penalty alpha; 0 is none.")
    sample: DrawOptions | None = Field(default=None, description="Sampling options, to sample captions at random.")
    attention: bool = Field(
        default=True, description="Include the attention of each word, which takes one more pass over each caption."
    )
