"""Options of a tagger besides the network that reads its words."""

from typing import Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options
from regard.models.bounds import WIDEST
from regard.models.tagging.letters import LetterOptions

OF_WHOLE_TEXTS = ("pooling", "score", "aspect", "near")  # options of networks that make one vector of a text


class TaggerOptions(Options):
    """Inputs of a word besides its vector, and how tags are chosen."""

    letters: LetterOptions = Field(LetterOptions(), description="How the letters of a word are read.")
    shape_width: int = Field(
        8, ge=0, le=WIDEST, description="Width of the embedding of a word's capitalisation; 0: not used."
    )
    column_width: int = Field(
        32, ge=1, le=WIDEST, description="Width of the embedding of each further column's values."
    )
    output: Literal["softmax", "crf"] = Field(
        "softmax", description="Choose each tag independently, or all tags of a sentence jointly by a linear-chain CRF."
    )
    previous_label: bool = Field(False, description="Condition each tag on the previous one, so that searches apply.")
    label_width: int = Field(32, ge=1, le=WIDEST, description="Width of the embedding of the previous tag, if used.")

    @model_validator(mode="after")
    def _check_output(self) -> "TaggerOptions":
        if self.previous_label and self.output == "crf":
            raise ValueError("previous_label needs output = 'softmax'; a CRF scores neighbouring tags already")
        for name in OF_WHOLE_TEXTS:
            field = type(self).model_fields.get(name)
            if field is not None and getattr(self, name) != field.default:
                raise ValueError(f"{name} is for classifying a whole text, but a tagger gives each word a tag")
        return self
