"""Recipe options for pictures."""

from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from regard.base.recipe import Options

PIECE = 8  # pixels a side of the pieces of other pictures that clutter a scene


class PictureFiles(Options):
    """Pictures, all of one size: an idx file of them, perhaps with a file of their labels, or a list of picture files.

    A name is a path, or `SET:path` for a file of the data catalogue.
    """

    pictures: str | None = Field(None, description="File of pictures in the idx format, as those of MNIST are.")
    labels: str | None = Field(
        None, description="File of their labels in the same order: in the idx format, or a .txt, one a line."
    )
    listing: str | None = Field(
        None, description="File of lines instead: a picture's file, seen from this one, a tab, its label."
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.pictures is None) == (self.listing is None) or (self.pictures is None and self.labels is not None):
            raise ValueError("pictures are either 'pictures', perhaps with 'labels', or a 'listing'")
        return self

    @property
    def names(self) -> list[str]:
        """The names of its files."""
        return [name for name in (self.pictures, self.labels, self.listing) if name is not None]

    @property
    def name(self) -> str:
        """Name of the pictures in reports and faults."""
        return self.names[0]


class LabelledFiles(PictureFiles):
    """Files in which every picture has a label."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.pictures is None) != (self.labels is None) or (self.pictures is None) == (self.listing is None):
            raise ValueError("labelled pictures are either 'pictures' and 'labels', or a 'listing'")
        return self


class Scene(Options):
    """Larger pictures made of the given ones: each at a drawn place on black, perhaps among pieces of others."""

    side: int = Field(ge=1, le=1024, description="Pixels a side of a scene.")
    pictures: int = Field(
        1, ge=1, le=16, description="Whole pictures on a scene; where they overlap their brightness adds up, to white."
    )
    clutter: int = Field(
        0, ge=0, le=64, description=f"Pieces of other pictures, {PIECE} pixels a side, strewn over a scene."
    )
    seed: int = Field(
        1, ge=0, lt=2**63, description="Seed of the scenes: those to learn from are new in each epoch, others fixed."
    )


class PictureSets(Options):
    """The pictures to learn from, labelled or not; where one set is meant, a string is enough for a listing."""

    train: PictureFiles = Field(description="Pictures to learn from.")
    valid: PictureFiles | None = Field(None, description="Pictures to watch the training by.")
    test: PictureFiles | None = Field(None, description="Pictures for the final scores.")
    hold_out: int = Field(
        5000, ge=1, description="Training pictures set aside for validation without 'valid', at most a fifth of them."
    )
    scene: Scene | None = Field(None, description="How larger pictures are made of them; without it, they stay.")

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        return {"listing": value} if isinstance(value, str) else value


class PictureData(PictureSets):
    """Pictures whose labels are to be learnt."""

    train: LabelledFiles = Field(description="Pictures to learn from.")
    valid: LabelledFiles | None = Field(None, description="Pictures to watch the training by.")
    test: LabelledFiles | None = Field(None, description="Pictures for the final scores.")
