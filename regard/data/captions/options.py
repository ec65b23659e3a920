"""Recipe options for captions and the features of their pictures."""

from typing import Literal, Self

from pydantic import Field, model_validator

from regard.base.recipe import Options
from regard.data.generated.moving_shapes import FEWEST_FRAMES
from regard.data.generated.options import GeneratedShapes

Axes = Literal["picture place width", "width picture place"]


class FeatureFiles(Options):
    """Features that were made of pictures before: some numbers for every place of a grid laid over each picture.

    A name is a path, or `SET:path` for a file of the data catalogue.
    """

    file: str = Field(description="The features of all pictures, an array in a .npy file, which may be packed.")
    names: str = Field(description="File of the pictures' names, one a line, in the order of the features.")
    axes: Axes = Field("picture place width", description="In which order the axes of the array stand.")
    grid: list[int] = Field(
        [7, 7], min_length=2, max_length=2, description="Rows and columns of the grid; places go row after row."
    )
    components: str | None = Field(
        None,
        description="A .npz file with what whole numbers are multiplied by (step) and, where features are principal "
        "components, their mean and their directions (proj); it travels with the model.",
    )
    extractor: Literal["efficientnet-lite2"] | None = Field(
        None, description="What makes them of a picture; without it, a picture of one's own cannot be read."
    )


class CaptionData(Options):
    """Captions, the pictures that they are of or features of these, and which pictures are learnt from."""

    captions: str | None = Field(
        None, description="File of lines: a picture's name, perhaps with #0, #1, …, a tab, a caption."
    )
    features: FeatureFiles | Literal["own"] = Field(
        description="The features of the pictures; 'own' are those of an encoder that is trained with the decoder."
    )
    pictures: str | None = Field(
        None,
        description="Folder or tar archive with the pictures by their names; with features = 'own' they are learnt "
        "from, otherwise only shown.",
    )
    side: int = Field(64, ge=8, le=256, description="Pixels a side that pictures are squashed to (features = 'own').")
    frames: int | None = Field(
        None,
        ge=2,
        le=64,
        description="Read videos, as so many frames spread evenly over each; with it generated shapes move "
        "(features = 'own').",
    )
    shapes: GeneratedShapes | None = Field(
        None, description="Pictures or videos of shapes, generated with their captions, in place of any files."
    )
    train: str | None = Field(None, description="File of the names of the pictures to learn from, one a line.")
    valid: str | None = Field(None, description="The same of those to watch the training by.")
    test: str | None = Field(None, description="The same of those for the final scores.")
    at_least: int = Field(
        5, ge=1, description="Words that occur less often than this in the captions to learn from are unknown."
    )
    vocabulary: int = Field(20_000, ge=16, le=2**20, description="The most words there may be.")
    longest: int = Field(
        40, ge=1, le=1000, description="Captions with more words are not learnt from, and none is written."
    )
    prepared: str | None = Field(
        None, description="A folder that keeps the data ready for several runs; by default each run has its own."
    )

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        files = {name: getattr(self, name) for name in ("captions", "pictures", "train", "valid", "test")}
        if self.frames is not None and self.features != "own":
            raise ValueError("frames: features of videos are those of an encoder that is trained; write 'own'")
        if self.shapes is not None:
            if given := next((name for name, value in files.items() if value is not None), None):
                raise ValueError(f"{given}: shapes are generated with all that belongs to them; omit it")
            if self.features != "own":
                raise ValueError("features: generated shapes have none that were made before; write 'own'")
            if self.frames is not None and self.frames < FEWEST_FRAMES:
                raise ValueError(f"frames is {self.frames}, but shapes need {FEWEST_FRAMES} or more to act in turn")
            return self
        if missing := next((name for name in ("captions", "train", "valid") if files[name] is None), None):
            raise ValueError(f"{missing} is missing; without it, only shapes can be learnt from")
        if self.features == "own" and self.pictures is None:
            raise ValueError("pictures is missing, which features = 'own' are learnt from")
        return self

    @property
    def are_features_made_elsewhere(self) -> bool:
        """True if nothing here computes features, so that the model reads features alone and no picture."""
        return isinstance(self.features, FeatureFiles) and self.features.extractor is None

    @property
    def seen(self) -> str:
        """The thing that captions describe."""
        return "pictures" if self.frames is None else "videos"

    @property
    def parts(self) -> dict[str, str]:
        """The splits that there are, and their files of names; those of shapes have no file."""
        if self.shapes is not None:
            return dict.fromkeys(("train", "valid", "test"), "")
        named = {"train": self.train, "valid": self.valid, "test": self.test}
        return {split: name for split, name in named.items() if name is not None}
