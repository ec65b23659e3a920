"""Recipe options for networks that transcribe."""

from typing import Any

from pydantic import Field

from regard.base.recipe import Options, Recipe
from regard.data.sounds.options import SoundData
from regard.training.options import Precision, TrainingOptions, best_by, numbers_in


class MaskOptions(Options):
    """Parts of a sound that are hidden while training: some bands, and some frames (Park et al. 2019, SpecAugment)."""

    count: int = Field(0, ge=0, le=16, description="Masks over bands, and as many over frames; 0 hides nothing.")
    bands: int = Field(8, ge=0, le=1024, description="Bands that a mask hides at most.")
    frames: int = Field(20, ge=0, le=10_000, description="Frames that a mask hides at most, before any are stacked.")


class TranscriptionTraining(TrainingOptions):
    """Training options for networks that transcribe."""

    batch: int = Field(default=32, ge=1, le=2**16, description="Sounds in a batch.")
    masks: MaskOptions = Field(MaskOptions(), description="What is hidden while training.")
    best_by: str = best_by("error")
    precision: Precision = numbers_in("float32", "features and sums over paths are in float32")


class TranscriptionRecipe(Recipe):
    """All that decides a network that transcribes: family, data, model and training."""

    data: SoundData = Field(description="The sounds and what is made of them.")
    model: Any = Field(description="What the model is built like.")
    training: TranscriptionTraining = Field(default_factory=TranscriptionTraining, description="How it is trained.")
