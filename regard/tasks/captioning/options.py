"""Recipe options for captioners."""

from typing import Any

from pydantic import Field, model_validator

from regard.base.recipe import Recipe
from regard.data.captions.options import CaptionData
from regard.decoding.options import DecodingOptions
from regard.models.captions.encoder import EncoderOptions
from regard.training.options import Precision, TrainingOptions, best_by, numbers_in


class CaptioningTraining(TrainingOptions):
    """Training options for captioners."""

    batch: int = Field(default=64, ge=1, le=2**16, description="Captions in a batch.")
    label_smoothing: float = Field(default=0.0, ge=0, lt=1, description="Share of probability given to all words.")
    self_critical: bool = Field(
        default=False,
        description="Learn from captions that are drawn, by how far their CIDEr is above that of the most probable "
        "words (Rennie et al. 2017); for a run that starts from a trained model. A batch is then of pictures.",
    )
    validation_beam: int = Field(
        default=1, ge=0, le=64, description="Beam of the captions written to validate; 0 measures the loss alone."
    )
    best_by: str = best_by("cider")
    precision: Precision = numbers_in("float32")


class CaptioningRecipe(Recipe):
    """All that decides a network that writes captions: family, data, model, training and search."""

    data: CaptionData = Field(description="The captions, and the features of their pictures.")
    model: Any = Field(description="What the model is built like.")
    training: CaptioningTraining = Field(default_factory=CaptioningTraining, description="How it is trained.")
    decoding: DecodingOptions = Field(default_factory=DecodingOptions, description="How captions are chosen.")

    @property
    def idle(self) -> tuple[str, ...]:
        if self.data.features != "own":
            return ("model.encoder",)
        return () if self.data.frames is not None else ("model.encoder.motion", "model.encoder.width")

    @model_validator(mode="after")
    def _check_encoder(self) -> "CaptioningRecipe":
        encoder, moves = self.model.encoder, self.data.frames is not None
        if self.data.features != "own" and encoder != EncoderOptions():
            raise ValueError("model.encoder reads pictures where data.features is 'own'; here features are read")
        if moves and encoder.patches is not None:
            raise ValueError("model.encoder.patches are those of pictures; omit them where data.frames is given")
        if (
            encoder.patches is not None and self.data.side % encoder.patches.patch
        ):  # words could not show where they look
            raise ValueError(
                f"model.encoder.patches.patch is {encoder.patches.patch}, and pictures of data.side = {self.data.side} "
                "pixels cannot be cut into such"
            )
        for name in ("motion", "width"):
            if not moves and getattr(encoder, name) != EncoderOptions.model_fields[name].default:
                raise ValueError(f"model.encoder.{name} is for videos; data.frames says how many frames they have")
        return self

    def inheritance(self) -> dict[str, Any]:
        return {"decoding": self.decoding.model_dump(exclude_none=True)}
