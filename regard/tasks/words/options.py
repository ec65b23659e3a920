"""Recipe options for word vectors."""

from typing import Any

from pydantic import Field, model_validator

from regard.base.recipe import Recipe
from regard.data.texts.options import WordsData
from regard.models.words.learning import Learning
from regard.models.words.on_gpu import MOST_PROGRAMS
from regard.training.options import UpdatingOptions


class WordsTraining(UpdatingOptions):
    """Training options for word vectors."""

    learning_rate: float | None = Field(
        default=None,
        gt=0,
        le=100,
        description="Initial learning rate (by default, skip-gram 0.025, glove 0.05, cbow 0.05).",
    )
    lowest_rate: float = Field(
        default=1e-4,
        ge=0,
        description="Final learning rate, reached linearly; not for glove.",
    )
    batch_words: int = Field(default=50_000, ge=1, description="Words, or pairs of words, between two progress checks.")
    threads: int | None = Field(
        default=None,
        ge=1,
        le=4096,
        description="Threads, or programs on a GPU, that learn side by side without locks. With several, no two runs "
        "are the same, and a resumed run is as good as an uninterrupted one but not equal to it. By default, 1 on a "
        f"CPU, and on a GPU up to {MOST_PROGRAMS}, fewer if there are few words.",
    )
    device: str = Field(default="cpu", description="Where to train: auto, cpu, cuda or cuda:1.")

    @model_validator(mode="after")
    def _falls(self) -> "WordsTraining":
        if self.learning_rate is not None and self.lowest_rate > self.learning_rate:
            raise ValueError(f"lowest_rate is {self.lowest_rate}, above the learning_rate of {self.learning_rate}")
        return self


class WordsRecipe(Recipe):
    """Recipe for word vectors."""

    data: WordsData = Field(description="The text, and which of its words have a vector.")
    model: Any = Field(description="The kind of vectors.")
    training: WordsTraining = Field(default_factory=WordsTraining, description="How they are trained.")

    def learning(self) -> Learning:
        """Return the learning rates and portions."""
        usual = 0.05 if self.family == "glove" or self.model.method == "cbow" else 0.025
        training = self.training
        return Learning(training.learning_rate or usual, training.lowest_rate, training.batch_words, training.threads)
