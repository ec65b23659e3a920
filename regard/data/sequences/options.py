"""Recipe options for sequences."""

from typing import Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options
from regard.data.pictures.options import PictureData

# Options of each job; those not listed belong to all.
OWN = {
    "adding": {"length", "examples", "valid", "test"},
    "copy": {"length", "examples", "valid", "test", "symbols", "remembered"},
    "pixels": {"pictures", "at_once", "permuted"},
}
LONGEST_DELAY = 100_000


class SequenceData(Options):
    """Sequences with something to remember, and for how long.

    adding: two of many numbers are marked, and the target is their sum. copy: some symbols are shown, and must be
    written many steps later. pixels: a picture is read pixel by pixel, and the target is its class.
    """

    job: Literal["adding", "copy", "pixels"] = Field(description="Task on a sequence.")
    length: int = Field(
        100,
        ge=2,
        le=LONGEST_DELAY,
        description="adding: numbers in a sequence. copy: steps between the symbols and their copy.",
    )
    symbols: int = Field(8, ge=2, le=1000, description="copy: number of different symbols.")
    remembered: int = Field(10, ge=1, le=1000, description="copy: number of symbols to remember.")
    examples: int = Field(
        100_000, ge=1, le=2**40, description="adding, copy: examples per epoch, all new in every epoch."
    )
    valid: int = Field(2000, ge=1, le=2**24, description="adding, copy: validation examples.")
    test: int = Field(10_000, ge=1, le=2**24, description="adding, copy: test examples, for the final scores.")
    seed: int = Field(
        1, ge=0, lt=2**63, description="Seed of generated validation and test data, and of a permutation."
    )
    pictures: PictureData | None = Field(None, description="pixels: the labelled pictures.")
    at_once: int = Field(1, ge=1, le=2**16, description="pixels: pixels read in one step.")
    permuted: bool = Field(False, description="pixels: read in one random order for all pictures, not row by row.")

    @model_validator(mode="after")
    def _check_job(self) -> "SequenceData":
        others = set().union(*OWN.values()) - OWN[self.job]
        for name in sorted(others):
            if getattr(self, name) != type(self).model_fields[name].default:
                owners = " and ".join(job for job, names in OWN.items() if name in names)
                raise ValueError(f"{name} belongs to {owners}, but job is '{self.job}'")
        if self.job == "pixels" and self.pictures is None:
            raise ValueError("job = 'pixels' needs pictures, as in [data.pictures]")
        return self
