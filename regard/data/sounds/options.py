"""Recipe options for sounds."""

from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from regard.base.recipe import Options
from regard.data.sounds.files import HIGHEST_RATE, LOWEST_RATE

MOST_JOINED = 100  # recordings in a string


class SoundFiles(Options):
    """Sounds and their texts: recordings labelled by file name, or a list of sound files.

    A name is a path, or `SET:path` for a file of the data catalogue.
    """

    recordings: str | None = Field(
        None, description="Folder or archive of sound files named LABEL_SPEAKER_NUMBER.wav, as in fsdd."
    )
    listing: str | None = Field(
        None,
        description="File of lines instead: a sound's file, relative to this one, a tab, its text, and "
        "optionally another tab and its speaker.",
    )
    speakers: list[str] = Field([], description="Use only these speakers; by default all of them.")
    without: list[str] = Field([], description="Leave out these speakers.")
    numbers: list[int] | None = Field(
        None, min_length=2, max_length=2, description="First and last number of the recordings to use."
    )
    part: str = Field("", description="Name of this part, if several parts are scored separately.")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.recordings is None) == (self.listing is None):
            raise ValueError("give either 'recordings' or a 'listing'")
        if self.listing is not None and self.numbers is not None:
            raise ValueError("'numbers' are for recordings; the sounds of a listing have none")
        return self

    @property
    def name(self) -> str:
        """Name of the sounds in reports and faults."""
        return str(self.recordings or self.listing)


class Strings(Options):
    """Strings of recordings, each by one speaker, with noise and with gaps before, between and after them."""

    shortest: int = Field(1, ge=1, le=MOST_JOINED, description="Recordings in the shortest string.")
    longest: int = Field(7, ge=1, le=MOST_JOINED, description="Recordings in the longest string.")
    gap: list[float] = Field(
        [0.0, 0.3], min_length=2, max_length=2, description="Shortest and longest gap, in seconds."
    )
    noise: list[float] = Field(
        [10.0, 40.0],
        min_length=2,
        max_length=2,
        description="Least and most decibels of the noise below the sound.",
    )
    loudness: list[float] = Field(
        [0.3, 1.0],
        min_length=2,
        max_length=2,
        description="Least and greatest peak of a recording in a string; 1 is full scale.",
    )
    speed: list[float] = Field(
        [1.0, 1.0],
        min_length=2,
        max_length=2,
        description="Slowest and fastest speed, and so pitch, of training strings; 1 is the original. "
        "Other speeds sound like other speakers.",
    )
    train: int = Field(2000, ge=1, description="Training strings per epoch, new ones in each.")
    measured: int = Field(500, ge=1, description="Strings of each evaluated part, always the same.")
    seed: int = Field(1, ge=0, lt=2**63, description="Seed of the evaluated strings.")

    def for_measuring(self) -> Self:
        """Return the options for evaluated strings, which are played at the original speed."""
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
            raise ValueError("gap: a gap must last between 0 and 60 seconds")
        if self.speed[0] < 0.25 or self.speed[1] > 4:
            raise ValueError("speed: it must be between a quarter and four times the original")
        if self.loudness[0] <= 0 or self.loudness[1] > 1:
            raise ValueError("loudness: a peak must be above 0 and at most 1")
        if self.noise[0] < -60 or self.noise[1] > 120:
            raise ValueError("noise: it must be between -60 and 120 decibels below the sound")
        return self


class FeatureOptions(Options):
    """Options for log-mel frames: the logarithm of a sound's power in bands of the mel scale."""

    window: float = Field(32.0, gt=0, le=1000, description="Milliseconds of sound in a frame.")
    hop: float = Field(10.0, gt=0, le=1000, description="Milliseconds from one frame to the next.")
    bands: int = Field(40, ge=1, le=1024, description="Number of bands in a frame.")

    def samples(self, rate: int) -> tuple[int, int]:
        """Return window and hop in samples, at this rate."""
        window, hop = round(self.window * rate / 1000), round(self.hop * rate / 1000)
        if not 1 <= hop <= window or window < 2:
            raise ValueError(f"features: a window of {window} samples and a hop of {hop} give no frames")
        return window, hop


class SoundData(Options):
    """Sounds of a recipe; for a single file, a string is enough for a listing."""

    train: list[SoundFiles] = Field(min_length=1, description="Training sounds.")
    valid: list[SoundFiles] = Field(min_length=1, description="Validation sounds.")
    test: list[SoundFiles] = Field([], description="Test sounds, for the final scores.")
    rate: int = Field(
        8000,
        ge=LOWEST_RATE,
        le=HIGHEST_RATE,
        description="Samples per second that all sounds are converted to.",
    )
    units: Literal["letters", "words"] = Field(
        "letters", description="Output symbols: letters of the text, or its words."
    )
    spelling: dict[str, str] = Field(
        {}, description='Spelling of words in the texts, such as 3 = "three"; other words stay unchanged.'
    )
    who: bool = Field(False, description="Write the speaker after the text; only with words, and without strings.")
    strings: Strings | None = Field(
        None, description="How to make strings from recordings; without it, recordings are used unchanged."
    )
    features: FeatureOptions = Field(FeatureOptions(), description="Frames computed from the sounds.")

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        several = value if isinstance(value, list) else [value]
        return [{"listing": files} if isinstance(files, str) else files for files in several]

    @model_validator(mode="after")
    def _check_frames(self) -> Self:
        self.features.samples(self.rate)
        return self

    @model_validator(mode="after")
    def _check_who(self) -> Self:
        if self.who and (self.units != "words" or self.strings is not None):
            raise ValueError(
                "who writes the speaker as a word after the text: it needs units = 'words', and no strings"
            )
        return self

    def written(self, text: str, speaker: str) -> str:
        """Return the text of a recording: its words spelled out, and the speaker if `who` is set."""
        words = [self.spelling.get(word, word) for word in text.split()]
        return " ".join([*words, speaker] if self.who else words)
