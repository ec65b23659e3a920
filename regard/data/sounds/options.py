"""Recipe options for sounds."""

from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from regard.base.recipe import Options
from regard.data.sounds.files import HIGHEST_RATE, LOWEST_RATE

MOST_JOINED = 100  # recordings in a string


class SoundFiles(Options):
    """Sounds and what they say: recordings that tell it by their names, or a list of sound files.

    A name is a path, or `SET:path` for a file of the data catalogue.
    """

    recordings: str | None = Field(
        None, description="Folder or archive of sound files called LABEL_SPEAKER_NUMBER.wav, as those of fsdd are."
    )
    listing: str | None = Field(
        None,
        description="File of lines instead: a sound's file, seen from this one, a tab, what it says, and perhaps "
        "another tab and who says it.",
    )
    speakers: list[str] = Field([], description="Only what these speakers say; without a name, what all of them say.")
    without: list[str] = Field([], description="Not what these speakers say.")
    numbers: list[int] | None = Field(
        None, min_length=2, max_length=2, description="The first and the last number of the recordings that are taken."
    )
    part: str = Field("", description="What they are called where several parts are scored apart.")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.recordings is None) == (self.listing is None):
            raise ValueError("sounds are either 'recordings' or a 'listing'")
        if self.listing is not None and self.numbers is not None:
            raise ValueError("'numbers' are those of recordings; the sounds of a listing have none")
        return self

    @property
    def name(self) -> str:
        """Name of the sounds in reports and faults."""
        return str(self.recordings or self.listing)


class Strings(Options):
    """Strings of recordings, each said by one speaker: with gaps before, between and behind them, and with noise."""

    shortest: int = Field(1, ge=1, le=MOST_JOINED, description="Recordings in the shortest string.")
    longest: int = Field(7, ge=1, le=MOST_JOINED, description="Recordings in the longest string.")
    gap: list[float] = Field(
        [0.0, 0.3], min_length=2, max_length=2, description="Shortest and longest gap, in seconds."
    )
    noise: list[float] = Field(
        [10.0, 40.0],
        min_length=2,
        max_length=2,
        description="How many decibels the noise may lie below the sound: at the least, and at the most.",
    )
    loudness: list[float] = Field(
        [0.3, 1.0],
        min_length=2,
        max_length=2,
        description="Highest sample of a recording in a string, of which 1 is the most: at the least, and at the most.",
    )
    speed: list[float] = Field(
        [1.0, 1.0],
        min_length=2,
        max_length=2,
        description="How fast, and so how high, strings to learn from are played: at the least, and at the most; 1 is "
        "as they were said. Other speeds sound like other speakers.",
    )
    train: int = Field(2000, ge=1, description="Strings to learn from in an epoch, new ones in each.")
    measured: int = Field(500, ge=1, description="Strings of each part that is measured, always the same.")
    seed: int = Field(1, ge=0, lt=2**63, description="Seed of the strings that are measured.")

    def for_measuring(self) -> Self:
        """Return the options for strings that are measured: played as they were said."""
        return self.model_copy(update={"speed": [1.0, 1.0]})

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        ranges: dict[str, list[Any]] = {
            "shortest": [self.shortest, self.longest],
            "gap": self.gap,
            "noise": self.noise,
            "loudness": self.loudness,
            "speed": self.speed,
        }
        for name, (least, most) in ranges.items():
            if not least <= most:
                raise ValueError(f"{name}: {least} is more than {most}")
        if self.gap[0] < 0 or self.gap[1] > 60:
            raise ValueError("gap: a gap lasts between 0 and 60 seconds")
        if self.speed[0] < 0.25 or self.speed[1] > 4:
            raise ValueError("speed: between a quarter and four times as fast as it was said")
        if self.loudness[0] <= 0 or self.loudness[1] > 1:
            raise ValueError("loudness: the highest sample lies above 0, and at 1 at the most")
        if self.noise[0] < -60 or self.noise[1] > 120:
            raise ValueError("noise: it lies between -60 and 120 decibels below the sound")
        return self


class FeatureOptions(Options):
    """Options for log-mel frames: the logarithm of a sound's power in bands of the mel scale."""

    window: float = Field(32.0, gt=0, le=1000, description="Milliseconds of sound that a frame is of.")
    hop: float = Field(10.0, gt=0, le=1000, description="Milliseconds from one frame to the next.")
    bands: int = Field(40, ge=1, le=1024, description="Bands of a frame.")

    def samples(self, rate: int) -> tuple[int, int]:
        """Window and hop in samples, at this rate."""
        window, hop = round(self.window * rate / 1000), round(self.hop * rate / 1000)
        if not 1 <= hop <= window or window < 2:
            raise ValueError(f"features: a window of {window} samples and a hop of {hop} give no frames")
        return window, hop


class SoundData(Options):
    """The sounds to learn from; where one file is meant, a string is enough for a listing."""

    train: list[SoundFiles] = Field(min_length=1, description="Sounds to learn from.")
    valid: list[SoundFiles] = Field(min_length=1, description="Sounds to watch the training by.")
    test: list[SoundFiles] = Field([], description="Sounds for the final scores.")
    rate: int = Field(
        8000,
        ge=LOWEST_RATE,
        le=HIGHEST_RATE,
        description="Samples a second that all sounds are brought to.",
    )
    units: Literal["letters", "words"] = Field(
        "letters", description="What is written one after another: the letters of what is said, or its words."
    )
    spelling: dict[str, str] = Field(
        {}, description='How words of what is said are spelled out, as 3 = "three"; those not named stay.'
    )
    who: bool = Field(False, description="Write who speaks behind what is said; for words, and without strings.")
    strings: Strings | None = Field(None, description="How strings are made of recordings; without it, they stay.")
    features: FeatureOptions = Field(FeatureOptions(), description="The frames that are made of sounds.")

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        several = value if isinstance(value, list) else [value]
        return [{"listing": each} if isinstance(each, str) else each for each in several]

    @model_validator(mode="after")
    def _check_frames(self) -> Self:
        self.features.samples(self.rate)
        return self

    @model_validator(mode="after")
    def _check_who(self) -> Self:
        if self.who and (self.units != "words" or self.strings is not None):
            raise ValueError(
                "who writes who speaks as a word behind what is said: it needs units = 'words', and no strings"
            )
        return self

    def written(self, text: str, speaker: str) -> str:
        """Return the text of a recording: its words spelled out, and perhaps who says them."""
        words = [self.spelling.get(word, word) for word in text.split()]
        return " ".join([*words, speaker] if self.who else words)
