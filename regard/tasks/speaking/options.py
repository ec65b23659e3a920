"""Recipe options for models that speak."""

from typing import Any

from pydantic import Field, model_validator

from regard.base.recipe import Recipe
from regard.data.sounds.options import SoundData
from regard.training.options import Precision, TrainingOptions, numbers_in

ROUNDS = 60  # of Griffin-Lim, by default
SECONDS_A_SYMBOL, SECONDS_MORE = 0.5, 1.0  # default limit after which an endless sound is cut


class SpeakingData(SoundData):
    """The sounds to learn from, whose frames must be invertible."""

    @model_validator(mode="after")
    def _check_overlap(self) -> "SpeakingData":
        window, hop = self.features.samples(self.rate)
        if window < 2 * hop:
            raise ValueError("features: to turn frames into sound, each must overlap the next by half")
        if self.who:
            raise ValueError("who: a speaking model does not name its speaker; omit it")
        return self


class SpeakingTraining(TrainingOptions):
    """Training options for models that speak."""

    batch: int = Field(default=32, ge=1, le=2**16, description="Sounds in a batch.")
    guide: float = Field(
        default=1.0,
        ge=0,
        description="Weight of a loss that pulls attention to the diagonal from text to sound; 0: none.",
    )
    precision: Precision = numbers_in("float32")


class SpeakingRecipe(Recipe):
    """Recipe for a model that speaks: family, data, model and training."""

    data: SpeakingData = Field(description="The sounds and their transcripts.")
    model: Any = Field(description="The architecture of the model.")
    training: SpeakingTraining = Field(default_factory=SpeakingTraining, description="How it is trained.")
