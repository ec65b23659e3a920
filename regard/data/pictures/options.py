"""Recipe options for pictures."""

from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from regard.base.recipe import Options

PIECE = 8  # pixels per side of the pieces of other pictures that clutter a scene


class PictureFiles(Options):
    """Pictures of one size: an idx file with an optional file of labels, or a list of picture files.

    A name is a path, or `SET:path` for a file of the data catalogue.
    """

    pictures: str | None = Field(None, description="File of pictures in the idx format, as used by MNIST.")
    labels: str | None = Field(
        None, description="File of their labels in the same order: idx, or a .txt with one per line."
    )
    listing: str | None = Field(
        None, description="File of lines instead: a picture's file, relative to this one, a tab, and its label."
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.pictures is None) == (self.listing is None) or (self.pictures is None and self.labels is not None):
            raise ValueError("give either 'pictures', optionally with 'labels', or a 'listing'")
        return self

    @property
    def names(self) -> list[str]:
        """Names of its files."""
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
            raise ValueError("labelled pictures need either 'pictures' and 'labels', or a 'listing'")
        return self


class Scene(Options):
    """Larger pictures made from the given ones: each at a random place on black, optionally among pieces of others."""

    side: int = Field(ge=1, le=1024, description="Pixels per side of a scene.")
    pictures: int = Field(
        1,
        ge=1,
        le=16,
        description="Whole pictures in a scene; where they overlap, their brightness adds up, at most to white.",
    )
    clutter: int = Field(
        0, ge=0, le=64, description=f"Pieces of other pictures, {PIECE} pixels per side, scattered over a scene."
    )
    seed: int = Field(
        1, ge=0, lt=2**63, description="Seed of the scenes: training scenes are new in each epoch, others are fixed."
    )


class PictureSets(Options):
    """Sets of pictures, labelled or not; for a set, a string is enough for a listing."""

    train: PictureFiles = Field(description="Training pictures.")
    valid: PictureFiles | None = Field(None, description="Validation pictures.")
    test: PictureFiles | None = Field(None, description="Test pictures, for the final scores.")
    hold_out: int = Field(
        5000,
        ge=1,
        description="Training pictures to hold out for validation if 'valid' is missing; at most a fifth of them.",
    )
    scene: Scene | None = Field(
        None, description="How to make larger pictures from them; without it, they stay unchanged."
    )

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        return {"listing": value} if isinstance(value, str) else value


class PictureData(PictureSets):
    """Pictures with labels to learn."""

    train: LabelledFiles = Field(description="Training pictures.")
    valid: LabelledFiles | None = Field(None, description="Validation pictures.")
    test: LabelledFiles | None = Field(None, description="Test pictures, for the final scores.")
