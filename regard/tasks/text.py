"""What tasks of text share: how their training data is cut into batches, and what their losses allow."""

from pydantic import Field

from regard.training.options import TrainingOptions


class TextTraining(TrainingOptions):
    """How a model that writes text is trained by gradient."""

    batch_tokens: int | None = Field(
        default=None, ge=8, description="Tokens of the longer side in a batch, padding counted; found when not given."
    )
    label_smoothing: float = Field(default=0.1, ge=0, lt=1, description="Share of probability given to all tokens.")
