"""Recipe options for language models."""

from typing import Any, Self

from pydantic import Field, model_validator

from regard.base.recipe import TextRecipe
from regard.data.texts.options import LanguageModelData
from regard.decoding.options import DecodingOptions
from regard.training.options import CountingOptions, TeacherOptions, best_by

USUAL_SPAN = 35


class LanguageRecipe(TextRecipe):
    """Options shared by all language models: family, data, model and search."""

    data: LanguageModelData = Field(description="The text and how it is tokenised.")
    model: Any = Field(description="The architecture of the model.")
    decoding: DecodingOptions = Field(default_factory=DecodingOptions, description="How outputs are chosen.")


class CountedLanguageTraining(CountingOptions):
    """Training options for language models that count."""

    batch_tokens: int = Field(
        default=131_072, ge=1, description="Approximate number of tokens counted at once; affects only speed."
    )
    memory: float | None = Field(
        default=None,
        gt=0,
        description="Approximate gigabytes of memory for the counts; the rest goes to temporary files, and "
        "the model is the same. By default, everything is counted in memory.",
    )
    scratch: str | None = Field(
        default=None, description="Folder for those temporary files, by default the system's. Needs training.memory."
    )

    @model_validator(mode="after")
    def _files_beyond_memory(self) -> Self:
        if self.scratch is not None and self.memory is None:
            raise ValueError("scratch is for counts beyond training.memory, which is not given")
        return self


class GradientLanguageTraining(TeacherOptions):
    """Training options for language models that learn by gradient from running text."""

    batch: int = Field(default=20, ge=1, le=2**16, description="Parts of the text read side by side.")
    span: int | None = Field(
        default=None,
        ge=1,
        le=2**16,
        description="Tokens of each part in a batch, which is how far a gradient reaches back. By default, the "
        f"context of a network that has one, otherwise {USUAL_SPAN}.",
    )
    vary_span: bool = Field(
        default=False,
        description="Choose span lengths at random around that length in every epoch; for networks that carry their "
        "state.",
    )
    state_penalty: float = Field(
        default=0.0, ge=0, description="Weight of the mean square of the last layer's states (AR)."
    )
    change_penalty: float = Field(
        default=0.0, ge=0, description="Weight of the mean square of their changes from token to token (TAR)."
    )
    valid_parts: int = Field(
        default=10,
        ge=1,
        le=2**16,
        description="Parts of the validation text read side by side by networks that carry their state from "
        "sentence to sentence; the test text is read in one piece.",
    )
    best_by: str = best_by("perplexity")


class GradientLanguageRecipe(LanguageRecipe):
    """Recipe for a language model that learns by gradient."""

    training: GradientLanguageTraining = Field(
        default_factory=GradientLanguageTraining, description="How it is trained."
    )


class CountedLanguageRecipe(LanguageRecipe):
    """Recipe for a language model that counts."""

    training: CountedLanguageTraining = Field(default_factory=CountedLanguageTraining, description="How it is trained.")
