"""Recipe options for masked language models."""

from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options, TextRecipe
from regard.data.texts.options import LanguageData, TextTokeniserOptions
from regard.training.options import TrainingOptions


class MaskingOptions(Options):
    """Which tokens are hidden in training, and what is read in their places."""

    share: float = Field(0.15, gt=0, lt=1, description="Share of the tokens of a text to hide.")
    whole_words: bool = Field(True, description="Hide all tokens of a word together.")
    masked: float = Field(0.8, ge=0, le=1, description="Share of the hidden tokens that are read as [MASK].")
    random: float = Field(
        0.1, ge=0, le=1, description="Share of them that are read as a random token; the rest is unchanged."
    )

    @model_validator(mode="after")
    def _check_shares(self) -> "MaskingOptions":
        if self.masked + self.random > 1:
            raise ValueError(f"masked {self.masked} and random {self.random} add up to more than 1")
        return self


class MaskedTraining(TrainingOptions):
    """Training options for masked tokens, on text read in spans across lines."""

    batch: int = Field(default=64, ge=1, le=2**16, description="Spans in a batch.")
    span: int = Field(default=128, ge=4, le=2**16, description="Consecutive tokens of a span, including [CLS].")
    masking: MaskingOptions = Field(MaskingOptions(), description="Which tokens are hidden, and what is read instead.")


class MaskedTokeniserOptions(TextTokeniserOptions):
    """Tokeniser options for word pieces, the only tokens with a mask."""

    kind: Literal["wordpiece"] = Field("wordpiece", description="Kind of tokens: BERT's word pieces.")


class MaskedData(LanguageData):
    """The text of a masked language model."""

    tokeniser: MaskedTokeniserOptions = Field(MaskedTokeniserOptions(), description="How text is tokenised.")


class MaskedRecipe(TextRecipe):
    """Recipe for a masked language model: family, data, model and training."""

    data: MaskedData = Field(description="The text and how it is tokenised.")
    model: Any = Field(description="The architecture of the model.")
    training: MaskedTraining = Field(default_factory=MaskedTraining, description="How it is trained.")

    def inheritance(self) -> dict[str, Any]:
        return {"data": {"tokeniser": self.data.tokeniser.model_dump(exclude_none=True)}}

    @model_validator(mode="after")
    def _check_span(self) -> "MaskedRecipe":
        if self.training.span > self.model.longest:
            raise ValueError(
                f"training.span is {self.training.span}, more than the {self.model.longest} places of model.longest"
            )
        return self
