"""Recipe options for models that speak."""

from typing import Any

from pydantic import Field, model_validator

from regard.base.recipe import Recipe
from regard.data.sounds.options import SoundData
from regard.training.options import Precision, TrainingOptions, numbers_in

ROUNDS = 60  # of Griffin and Lim's, unless someone says otherwise
SECONDS_A_SYMBOL, SECONDS_MORE = 0.5, 1.0  # after which a sound that does not end is cut, unless someone says otherwise


class SpeakingData(SoundData):
    """The sounds to learn from, whose frames must have sounds."""

    @model_validator(mode="after")
    def _check_overlap(self) -> "SpeakingData":
        window, hop = self.features.samples(self.rate)
        if window < 2 * hop:
            raise ValueError("features: to find a sound for frames, each must overlap the next by half of it")
        if self.who:
            raise ValueError("who: it is not spoken who speaks; the voice says it")
        return self


class SpeakingTraining(TrainingOptions):
    """Training options for models that speak."""

    batch: int = Field(default=32, ge=1, le=2**16, description="Sounds in a batch.")
    guide: float = Field(
        default=1.0, ge=0, description="Weight of what pulls its looks to the diagonal from text to sound; 0: nothing."
    )
    precision: Precision = numbers_in("float32")


class SpeakingRecipe(Recipe):
    """All that decides a model that speaks: family, data, model and training."""

    data: SpeakingData = Field(description="The sounds and what they say.")
    model: Any = Field(description="What the model is built like.")
    training: SpeakingTraining = Field(default_factory=SpeakingTraining, description="How it is trained.")
