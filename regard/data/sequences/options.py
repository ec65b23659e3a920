"""Recipe options for sequences."""

from typing import Literal

from pydantic import Field, model_validator

from regard.base.recipe import Options
from regard.data.pictures.options import PictureData

# Which options belong to which job; those that are left belong to all.
OWN = {
    "adding": {"length", "examples", "valid", "test"},
    "copy": {"length", "examples", "valid", "test", "symbols", "remembered"},
    "pixels": {"pictures", "at_once", "permuted"},
}
LONGEST_DELAY = 100_000


class SequenceData(Options):
    """Options on what is to be remembered, and for how long.

    adding: two of many numbers are marked, and their sum is wanted. copy: some symbols are shown, and wanted again many
    steps later. pixels: a picture is read pixel by pixel, and its class is wanted.
    """

    job: Literal["adding", "copy", "pixels"] = Field(description="What is wanted of a sequence.")
    length: int = Field(
        100,
        ge=2,
        le=LONGEST_DELAY,
        description="Of adding: numbers of a sequence. Of copy: steps between what is shown and its copy.",
    )
    symbols: int = Field(8, ge=2, le=1000, description="Of copy: how many different symbols there are.")
    remembered: int = Field(10, ge=1, le=1000, description="Of copy: how many symbols are to be remembered.")
    examples: int = Field(
        100_000, ge=1, le=2**40, description="Of what is drawn: examples of an epoch, all new in every epoch."
    )
    valid: int = Field(2000, ge=1, le=2**24, description="Of what is drawn: examples to watch the training by.")
    test: int = Field(10_000, ge=1, le=2**24, description="Of what is drawn: examples for the final scores.")
    seed: int = Field(1, ge=0, lt=2**63, description="Seed of drawn validation and test data, and of a permutation.")
    pictures: PictureData | None = Field(None, description="Of pixels: the labelled pictures.")
    at_once: int = Field(1, ge=1, le=2**16, description="Of pixels: how many are read in one step.")
    permuted: bool = Field(False, description="Of pixels: in an order drawn once for all pictures, not row by row.")

    @model_validator(mode="after")
    def _check_job(self) -> "SequenceData":
        others = set().union(*OWN.values()) - OWN[self.job]
        for name in sorted(others):
            if getattr(self, name) != type(self).model_fields[name].default:
                owners = " and ".join(job for job, own in OWN.items() if name in own)
                raise ValueError(f"{name} belongs to {owners}, and job is '{self.job}'")
        if self.job == "pixels" and self.pictures is None:
            raise ValueError("job = 'pixels' needs pictures, as in [data.pictures]")
        return self
