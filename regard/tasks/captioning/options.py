"""Recipe options for captioners."""

from typing import Any, Literal

from pydantic import Field, model_validator

from regard.base.recipe import Recipe
from regard.data.captions.options import CaptionData
from regard.decoding.options import DecodingOptions
from regard.models.captions.encoder import EncoderOptions
from regard.training.options import Precision, TrainingOptions, best_by, numbers_in

_OF_SAMPLED = ("samples", "baseline", "sampling_dropout")  # options of self_critical = true


class CaptioningTraining(TrainingOptions):
    """Training options for captioners."""

    batch: int = Field(default=64, ge=1, le=2**16, description="Captions in a batch.")
    label_smoothing: float = Field(default=0.0, ge=0, lt=1, description="Share of probability given to all words.")
    self_critical: bool = Field(
        default=False,
        description="Learn from sampled captions, rewarded by how far their CIDEr exceeds that of the greedy caption "
        "(Rennie et al. 2017); for a run that starts from a trained model. Batches then consist of pictures.",
    )
    samples: int = Field(
        default=1, ge=1, le=256, description="Captions sampled for each picture in self-critical training."
    )
    baseline: Literal["greedy", "leave-one-out"] = Field(
        default="greedy",
        description="Reward that a sampled caption must exceed in self-critical training: that of the greedy caption, "
        "or the mean of the picture's other samples (Luo 2020).",
    )
    sampling_dropout: bool = Field(
        default=False, description="Apply dropout while captions are sampled in self-critical training."
    )
    validation_beam: int = Field(
        default=1, ge=0, le=64, description="Beam size for validation captions; 0 measures only the loss."
    )
    best_by: str = best_by("cider")
    precision: Precision = numbers_in("float32")

    @model_validator(mode="after")
    def _check_samples(self) -> "CaptioningTraining":
        for name in _OF_SAMPLED:
            if not self.self_critical and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for self_critical = true, which samples captions")
        if self.baseline == "leave-one-out" and self.samples < 2:
            raise ValueError("baseline = 'leave-one-out' is the mean of the other samples, so it needs samples ≥ 2")
        return self


class CaptioningRecipe(Recipe):
    """Recipe for a captioner: family, data, model, training and search."""

    data: CaptionData = Field(description="The captions, and the features of their pictures.")
    model: Any = Field(description="The architecture of the model.")
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
            raise ValueError("model.encoder needs data.features = 'own'; this recipe reads ready features")
        if moves and encoder.patches is not None:
            raise ValueError("model.encoder.patches are for pictures; omit them with data.frames")
        if (
            encoder.patches is not None and self.data.side % encoder.patches.patch
        ):  # words could not show where they attend
            raise ValueError(
                f"model.encoder.patches.patch is {encoder.patches.patch}, but pictures of data.side = {self.data.side} "
                "pixels cannot be divided by it"
            )
        for name in ("motion", "width"):
            if not moves and getattr(encoder, name) != EncoderOptions.model_fields[name].default:
                raise ValueError(f"model.encoder.{name} is for videos; set data.frames")
        return self

    def inheritance(self) -> dict[str, Any]:
        return {"decoding": self.decoding.model_dump(exclude_none=True)}
