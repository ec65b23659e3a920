"""What a recipe says about its captions, and about the features of the pictures that they are of."""

from typing import Literal

from pydantic import Field

from regard.base.recipe import Options

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
    extractor: str | None = Field(
        None, description="What made them, by a name of regard's; without it, a picture of one's own cannot be read."
    )


class CaptionData(Options):
    """Captions, the features of the pictures that they are of, and which pictures are learnt from."""

    captions: str = Field(description="File of lines: a picture's name, perhaps with #0, #1, …, a tab, a caption.")
    features: FeatureFiles = Field(description="The features of the pictures.")
    train: str = Field(description="File of the names of the pictures to learn from, one a line.")
    valid: str = Field(description="The same of those to watch the training by.")
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

    @property
    def splits(self) -> dict[str, str]:
        """The splits that there are, and their files of names."""
        named = {"train": self.train, "valid": self.valid, "test": self.test}
        return {split: name for split, name in named.items() if name is not None}
