"""Recipe options for pictures and captions to paint from."""

from typing import Self

from pydantic import Field, model_validator

from regard.base.recipe import Options
from regard.data.generated.options import GeneratedShapes
from regard.data.pictures.options import PictureData


class PaintedShapes(GeneratedShapes):
    """Generated pictures of one or two coloured shapes, and their size."""

    side: int = Field(32, ge=8, le=256, description="Pixels a side of a picture.")


class PaintingData(Options):
    """Pictures and what is said of them: labelled pictures whose classes have names, or generated shapes."""

    pictures: PictureData | None = Field(None, description="Labelled grey pictures, such as those of MNIST.")
    names: list[str] = Field(
        default_factory=list, max_length=1000, description="What the classes are called, in their order, as captions."
    )
    shapes: PaintedShapes | None = Field(None, description="Generated pictures of shapes instead.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.pictures is None) == (self.shapes is None):
            raise ValueError("a model paints either from labelled 'pictures' or from generated 'shapes'")
        if self.shapes is not None and self.names:
            raise ValueError("names are those of the classes of 'pictures'; generated shapes have captions")
        if self.pictures is not None and not self.names:
            raise ValueError("labelled pictures need 'names' for their classes, which are then their captions")
        return self
