"""Recipe options for networks that transcribe."""

from typing import Any

from pydantic import Field

from regard.base.recipe import Options, Recipe
from regard.data.sounds.options import SoundData
from regard.training.options import Precision, TrainingOptions, best_by, numbers_in


class MaskOptions(Options):
    """Parts of a sound that are hidden in training: some bands, and some frames (Park et al. 2019, SpecAugment)."""

    count: int = Field(0, ge=0, le=16, description="Number of masks over bands, and as many over frames; 0: none.")
    bands: int = Field(8, ge=0, le=1024, description="Most bands that a mask hides.")
    frames: int = Field(20, ge=0, le=10_000, description="Most frames that a mask hides, before stacking.")


class TranscriptionTraining(TrainingOptions):
    """Training options for networks that transcribe."""

    batch: int = Field(default=32, ge=1, le=2**16, description="Sounds in a batch.")
    masks: MaskOptions = Field(MaskOptions(), description="Parts of the sounds to hide in training.")
    best_by: str = best_by("error")
    precision: Precision = numbers_in("float32", "features and sums over paths are in float32")


class TranscriptionRecipe(Recipe):
    """Recipe for networks that transcribe: family, data, model and training."""

    data: SoundData = Field(description="The sounds and how they are prepared.")
    model: Any = Field(description="The architecture of the model.")
    training: TranscriptionTraining = Field(default_factory=TranscriptionTraining, description="How it is trained.")
