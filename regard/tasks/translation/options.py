"""Recipe options for translators."""

from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.recipe import TextRecipe, merge_tables, value_at
from regard.data.corpora.options import Cleaning, PairData
from regard.decoding.options import DecodingOptions
from regard.models.translator_options import can_copy
from regard.training.options import TeacherOptions, TextTraining


class TranslationTraining(TeacherOptions, TextTraining):
    """Training options for translators."""

    consistency: float = Field(
        default=0.0,
        ge=0,
        description="Weight of R-Drop: each batch is passed twice, and the two outputs should agree; 0 is off.",
    )
    freeze: list[str] = Field(
        default=[],
        description="Parts of the model to freeze: embeddings (with an output layer tied to them), encoder, decoder.",
    )
    quantise: Literal["none", "int8", "int4"] = Field(
        default="none",
        description="Compute in training and validation with weights and states rounded as 8-bit engines do, or with "
        "4-bit weights, so that the model learns to live with it; saved weights are not rounded.",
    )
    fast: bool = Field(
        default=True,
        description="On a GPU, use packed sentences, fused kernels and captured passes in bf16, if the model has them.",
    )
    validation_beam: int = Field(
        default=1, ge=0, le=64, description="Beam size for validation translations; 0 measures only the loss."
    )
    log_attention: bool = Field(
        default=False, description="Log to TensorBoard, at each validation, how focused and how diagonal each head is."
    )

    @model_validator(mode="after")
    def _check_objectives(self) -> "TranslationTraining":
        if self.teachers and self.consistency:
            raise ValueError("teachers and consistency are two objectives; omit one of them")
        return self

    @model_validator(mode="after")
    def _check_measure(self) -> "TranslationTraining":
        if self.best_by in ("bleu", "chrf") and self.validation_beam == 0:
            raise ValueError(f"best_by = '{self.best_by}' needs translations, but validation_beam = 0 makes none")
        return self


class TranslationRecipe(TextRecipe):
    """Recipe for a translator: family, data, model, training and search."""

    data: PairData = Field(description="The text and how it is tokenised.")
    model: Any = Field(description="The architecture of the model.")
    training: TranslationTraining = Field(default_factory=TranslationTraining, description="How it is trained.")
    decoding: DecodingOptions = Field(default_factory=DecodingOptions, description="How outputs are chosen.")

    @classmethod
    def bend(cls, table: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
        """Return the table with lengths and validations that fit each other, if the user set only one of the two.

        A shorter model drops longer pairs. Without translations the loss decides which weights are best, and other
        measures need translations.
        """
        longest = value_at(said, "model", "longest")
        if isinstance(longest, int) and longest > 1 and value_at(said, "data", "cleaning", "longest") is None:
            recipe_longest = value_at(table, "data", "cleaning", "longest")
            usual = recipe_longest if isinstance(recipe_longest, int) else Cleaning.model_fields["longest"].default
            table = merge_tables(table, {"data": {"cleaning": {"longest": min(usual, longest - 1)}}})
        best_by, beam = value_at(said, "training", "best_by"), value_at(said, "training", "validation_beam")
        if beam == 0 and best_by is None:
            table = merge_tables(table, {"training": {"best_by": "loss"}})
        elif (
            beam is None
            and best_by not in (None, "loss", "perplexity")
            and value_at(table, "training", "validation_beam") == 0
        ):
            table = merge_tables(table, {"training": {"validation_beam": 1}})
        return table

    @model_validator(mode="after")
    def _check_lengths(self) -> "TranslationRecipe":
        longest, longest_pair = getattr(self.model, "longest", None), self.data.cleaning.longest
        if longest is not None and longest_pair >= longest:
            raise ValueError(
                f"data.cleaning.longest {longest_pair} and an end token do not fit model.longest {longest}"
            )
        return self

    @model_validator(mode="after")
    def _check_copying(self) -> "TranslationRecipe":
        if can_copy(self.model) and not self.data.tokeniser.shared:
            raise ValueError(
                "model.copies writes tokens of the source, so both sides need one vocabulary: "
                "set data.tokeniser.shared to true"
            )
        return self

    @model_validator(mode="after")
    def _check_rounding(self) -> "TranslationRecipe":
        if self.training.quantise == "none":
            return self
        can_round = getattr(self.model, "can_round", None)
        if can_round is None:
            raise ValueError(f"training.quantise is for the family transformer, not {self.family}")
        if not can_round:
            raise ValueError(
                "training.quantise is for models that engines run rounded: without model.copies, a recurrent encoder "
                "or a GRU decoder"
            )
        if self.training.sharded:
            raise ValueError("training.quantise does not work with training.sharded; omit one of them")
        return self

    @property
    def tells_unknown(self) -> bool:
        """True if unknown source words are told apart, to be copied; subwords can write any word."""
        return can_copy(self.model) and self.data.tokeniser.is_of_words

    def inheritance(self) -> dict[str, Any]:
        data = self.data
        return {
            "data": {
                "source_language": data.source_language,
                "target_language": data.target_language,
                "cleaning": {"longest": data.cleaning.longest},
                "tokeniser": data.tokeniser.model_dump(exclude_none=True),
            },
            "decoding": self.decoding.model_dump(exclude_none=True),
        }
