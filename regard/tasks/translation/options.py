"""How a translator is trained."""

from pydantic import Field, model_validator

from regard.tasks.text import TextTraining


class TranslationTraining(TextTraining):
    """What only translators are told of their training."""

    consistency: float = Field(
        default=0.0,
        ge=0,
        description="Weight of R-Drop: each batch goes through twice, and the two passes should agree; 0 is off.",
    )
    freeze: list[str] = Field(
        default=[],
        description="Parts of the model that do not learn: embeddings (with an output layer tied to them), "
        "encoder, decoder.",
    )
    fast: bool = Field(
        default=True,
        description="On a GPU, packed sentences, fused kernels and captured passes in bf16, for models that have them.",
    )
    validation_beam: int = Field(
        default=1, ge=0, le=64, description="Beam of the translations made to validate; 0 measures the loss alone."
    )
    log_attention: bool = Field(
        default=False, description="Log to TensorBoard, at each validation, how sharp and how straight each head looks."
    )

    @model_validator(mode="after")
    def _check_measure(self) -> "TranslationTraining":
        if self.best_by in ("bleu", "chrf") and self.validation_beam == 0:
            raise ValueError(f"best_by = '{self.best_by}' needs translations, but validation_beam = 0 makes none")
        return self
