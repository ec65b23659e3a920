"""Recipe options for pictures and captions to paint from."""

from typing import Self

from pydantic import Field, model_validator

from regard.base.recipe import Options
from regard.data.generated.options import GeneratedShapes
from regard.data.pictures.options import PictureData


class PaintedShapes(GeneratedShapes):
    """Generated pictures of one or two coloured shapes, and their size."""

    side: int = Field(32, ge=8, le=256, description="Pixels per side of a picture.")


class PaintingData(Options):
    """Pictures and captions: labelled pictures whose classes have names, or generated shapes."""

    pictures: PictureData | None = Field(None, description="Labelled grey pictures, such as those of MNIST.")
    names: list[str] = Field(
        default_factory=list, max_length=1000, description="Names of the classes, in order, used as captions."
    )
    shapes: PaintedShapes | None = Field(None, description="Generated pictures of shapes, instead of labelled ones.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.pictures is None) == (self.shapes is None):
            raise ValueError("give either labelled 'pictures' or generated 'shapes', not both or neither")
        if self.shapes is not None and self.names:
            raise ValueError("names are for the classes of 'pictures'; generated shapes have captions of their own")
        if self.pictures is not None and not self.names:
            raise ValueError("labelled pictures need 'names' for their classes, which become their captions")
        return self
