"""Options of a tagger besides the network that reads its words."""

from typing import Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options
from regard.models.bounds import WIDEST
from regard.models.tagging.letters import LetterOptions

OF_WHOLE_TEXTS = ("pooling", "score", "aspect", "near")  # options of networks that make one vector of a text


class TaggerOptions(Options):
    """Inputs of a word besides its vector, and how tags are chosen."""

    letters: LetterOptions = Field(LetterOptions(), description="What is read of the letters of a word.")
    shape_width: int = Field(
        8, ge=0, le=WIDEST, description="Width of the vector that says how a word is capitalised; 0: none is read."
    )
    column_width: int = Field(
        32, ge=1, le=WIDEST, description="Width of the vector of what each further column says of a word."
    )
    output: Literal["softmax", "crf"] = Field(
        "softmax", description="Choose each tag by itself, or all tags of a sentence together by a linear-chain CRF."
    )
    previous_label: bool = Field(
        False, description="Whether each tag is chosen knowing the one before it, so that searches apply."
    )
    label_width: int = Field(
        32, ge=1, le=WIDEST, description="Width of the vector of the tag before, where it is known."
    )

    @model_validator(mode="after")
    def _check_output(self) -> "TaggerOptions":
        if self.previous_label and self.output == "crf":
            raise ValueError("previous_label goes with output = 'softmax'; a CRF weighs neighbouring tags by itself")
        for name in OF_WHOLE_TEXTS:
            field = type(self).model_fields.get(name)
            if field is not None and getattr(self, name) != field.default:
                raise ValueError(f"{name} is for one class of a whole text; a tagger gives a tag to each word")
        return self
