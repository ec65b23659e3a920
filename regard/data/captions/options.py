"""Recipe options for captions and the features of their pictures."""

from typing import Literal, Self

from pydantic import Field, model_validator

from regard.base.recipe import Options
from regard.data.generated.moving_shapes import FEWEST_FRAMES
from regard.data.generated.options import GeneratedShapes

Axes = Literal["picture place width", "width picture place"]


class FeatureFiles(Options):
    """Features computed from pictures beforehand: some numbers for every place of a grid over each picture.

    A name is a path, or `SET:path` for a file of the data catalogue.
    """

    file: str = Field(description="Features of all pictures: an array in a .npy file, which may be compressed.")
    names: str = Field(description="File of the pictures' names, one per line, in the order of the features.")
    axes: Axes = Field("picture place width", description="Order of the array's axes.")
    grid: list[int] = Field(
        [7, 7], min_length=2, max_length=2, description="Rows and columns of the grid; places go row after row."
    )
    components: str | None = Field(
        None,
        description="A .npz file with the factor of integer features (step) and, for principal components, their mean "
        "and directions (proj). It is stored with the model.",
    )
    extractor: Literal["efficientnet-lite2"] | None = Field(
        None,
        description="Network that computes the features of a picture; without it the model cannot read new pictures.",
    )


class CaptionData(Options):
    """Captions, their pictures or features of them, and the split of the pictures."""

    captions: str | None = Field(
        None, description="File of lines: a picture's name, optionally with #0, #1, …, a tab, and a caption."
    )
    features: FeatureFiles | Literal["own"] = Field(
        description="Features of the pictures; 'own' trains an encoder together with the decoder."
    )
    pictures: str | None = Field(
        None,
        description="Folder or tar archive of the pictures, by name. With features = 'own' the model learns from them; "
        "otherwise they are only shown.",
    )
    side: int = Field(64, ge=8, le=256, description="Pixels per side that pictures are squashed to (features = 'own').")
    frames: int | None = Field(
        None,
        ge=2,
        le=64,
        description="Read videos, as this many frames spread evenly over each; generated shapes then move (features = "
        "'own').",
    )
    shapes: GeneratedShapes | None = Field(
        None, description="Generate pictures or videos of shapes with captions, instead of reading files."
    )
    train: str | None = Field(None, description="File with the names of the training pictures, one per line.")
    valid: str | None = Field(None, description="File with the names of the validation pictures.")
    test: str | None = Field(None, description="File with the names of the test pictures.")
    at_least: int = Field(
        5, ge=1, description="Words that occur less often than this in the training captions are unknown."
    )
    vocabulary: int = Field(20_000, ge=16, le=2**20, description="Most words in the vocabulary.")
    longest: int = Field(
        40,
        ge=1,
        le=1000,
        description="Captions with more words are left out of training, and no longer caption is written.",
    )
    prepared: str | None = Field(
        None, description="Folder to keep the prepared data in, for several runs; by default each run has its own."
    )

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        files = {name: getattr(self, name) for name in ("captions", "pictures", "train", "valid", "test")}
        if self.frames is not None and self.features != "own":
            raise ValueError("frames: videos need features = 'own', an encoder that is trained")
        if self.shapes is not None:
            if superfluous := next((name for name, value in files.items() if value is not None), None):
                raise ValueError(f"{superfluous}: shapes are generated and need no files; omit it")
            if self.features != "own":
                raise ValueError("features: generated shapes have no precomputed features; write 'own'")
            if self.frames is not None and self.frames < FEWEST_FRAMES:
                raise ValueError(f"frames is {self.frames}, but moving shapes need at least {FEWEST_FRAMES}")
            return self
        if missing := next((name for name in ("captions", "train", "valid") if files[name] is None), None):
            raise ValueError(f"{missing} is missing; only generated shapes work without it")
        if self.features == "own" and self.pictures is None:
            raise ValueError("pictures is missing; features = 'own' learns from them")
        return self

    @property
    def are_features_made_elsewhere(self) -> bool:
        """True if nothing here computes features, so the model reads features and no pictures."""
        return isinstance(self.features, FeatureFiles) and self.features.extractor is None

    @property
    def seen(self) -> str:
        """The thing that captions describe."""
        return "pictures" if self.frames is None else "videos"

    @property
    def parts(self) -> dict[str, str]:
        """Splits and their files of names; generated shapes have no files."""
        if self.shapes is not None:
            return dict.fromkeys(("train", "valid", "test"), "")
        named = {"train": self.train, "valid": self.valid, "test": self.test}
        return {split: name for split, name in named.items() if name is not None}
