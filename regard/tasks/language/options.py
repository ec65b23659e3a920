"""Recipe options for language models."""

from typing import Any, Self

from pydantic import Field, model_validator

from regard.base.recipe import TextRecipe
from regard.data.texts.options import LanguageModelData
from regard.decoding.options import DecodingOptions
from regard.training.options import CountingOptions, TrainingOptions, best_by

USUAL_SPAN = 35


class LanguageRecipe(TextRecipe):
    """Options of every language model, however it learns: family, data, model and search."""

    data: LanguageModelData = Field(description="The text and how it is cut into tokens.")
    model: Any = Field(description="What the model is built like.")
    decoding: DecodingOptions = Field(default_factory=DecodingOptions, description="How outputs are chosen.")


class CountedLanguageTraining(CountingOptions):
    """Training options for language models that count."""

    batch_tokens: int = Field(
        default=131_072, ge=1, description="Tokens that are counted at once, about; it changes nothing but the speed."
    )
    memory: float | None = Field(
        default=None,
        gt=0,
        description="Gigabytes that the arrays of counts may take, about; beyond them they lie in temporary files, and "
        "the model is the same. If not given, all is counted in memory.",
    )
    scratch: str | None = Field(
        default=None, description="Folder for those temporary files; if not given, the system's own. It needs memory."
    )

    @model_validator(mode="after")
    def _files_beyond_memory(self) -> Self:
        if self.scratch is not None and self.memory is None:
            raise ValueError("scratch is for counts beyond training.memory, which is not given")
        return self


class GradientLanguageTraining(TrainingOptions):
    """Training options for language models that learn by gradient from running text."""

    batch: int = Field(default=20, ge=1, le=2**16, description="Parts of the text that are read side by side.")
    span: int | None = Field(
        default=None,
        ge=1,
        le=2**16,
        description="Tokens of each part in a batch: as far back as a gradient goes; if not given, the context of a "
        f"network that has one, otherwise {USUAL_SPAN}.",
    )
    vary_span: bool = Field(
        default=False,
        description="Whether spans are drawn around that length, anew in every epoch, for a network that carries its "
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
        description="Parts of the validation text that are read side by side by a network that carries its state from "
        "one sentence to the next; the test text is read in one piece.",
    )
    best_by: str = best_by("perplexity")


class GradientLanguageRecipe(LanguageRecipe):
    """All that decides a language model that learns by gradient."""

    training: GradientLanguageTraining = Field(
        default_factory=GradientLanguageTraining, description="How it is trained."
    )


class CountedLanguageRecipe(LanguageRecipe):
    """All that decides a language model that counts."""

    training: CountedLanguageTraining = Field(default_factory=CountedLanguageTraining, description="How it is trained.")
