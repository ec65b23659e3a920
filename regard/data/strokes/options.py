"""Recipe options for drawings."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from regard.base.recipe import Options

Coding = Literal["triples", "grid", "dictionary"]
LONGEST = 2000  # most moves of a drawing


class StrokeData(Options):
    """Drawings, and how their moves are coded.

    A file is a path, or `SET:path` for one of the data catalogue: sketch-rnn's .npz, of which the part named after the
    split is read, an .svg with polylines, or JSON lines with a list of strokes each.
    """

    train: list[str] = Field(min_length=1, description="Files of training drawings.")
    valid: list[str] | None = Field(None, min_length=1, description="Files of validation drawings.")
    test: list[str] | None = Field(None, min_length=1, description="Files of test drawings, for the final scores.")
    prepared: str | None = Field(None, description="Folder of the prepared drawings; by default one inside the run.")
    hold_out: float = Field(
        0.05, gt=0, le=0.5, description="Share of the drawings to hold out for validation if 'valid' is missing."
    )
    longest: int = Field(250, ge=1, le=LONGEST, description="Most moves of a drawing; longer ones are dropped.")
    unit: float = Field(
        1.0, gt=0, le=1e6, description="Coordinates are rounded to multiples of this unit, which likelihoods refer to."
    )
    simplify: float = Field(
        0.0,
        ge=0,
        le=1e6,
        description="Drop points within this distance of the line between others (Ramer, Douglas and "
        "Peucker), in the file's coordinates; 0 keeps all.",
    )
    coding: Coding = Field(
        "triples",
        description="What a model reads and predicts: numbers with a mixture density (triples), tokens for "
        "the cells of a grid, or tokens for movements of a dictionary.",
    )
    cells: int = Field(100, ge=2, le=250, description="grid: cells on each side.")
    movements: int = Field(1000, ge=2, le=10_000, description="dictionary: number of movements, found by k-means.")

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check_coding(self) -> Self:
        for name, coding in (("cells", "grid"), ("movements", "dictionary")):
            if self.coding != coding and getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for coding = '{coding}', but coding is '{self.coding}'")
        return self


class LabelledStrokeData(StrokeData):
    """Drawings with a class each, given in JSON lines or shared by all drawings of a file."""

    labels: list[str] | None = Field(
        None,
        min_length=1,
        description="Class of the drawings in each file, in the order of 'train', also for 'valid' and 'test'; "
        'without it every JSON line must be {"label": its class, "strokes": its strokes}.',
    )

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        for name in ("train", "valid", "test"):
            files = getattr(self, name)
            if self.labels is not None and files is not None and len(files) != len(self.labels):
                raise ValueError(f"{name} has {len(files)} files, but there are {len(self.labels)} labels")
        if self.labels is not None and not all(label.strip() for label in self.labels):
            raise ValueError("labels must not be empty")
        return self
