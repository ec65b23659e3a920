"""Lines of writing: pictures of single signs side by side, each line a pure function of its key.

A sign is cropped to the columns with ink. The distance to the next is random; if it is negative, signs touch and
overlap, keeping the brighter pixel, so that empty columns do not reveal where a sign ends.
"""

from typing import NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from regard.base.recipe import Options
from regard.data.pictures.options import LabelledFiles, PictureData
from regard.data.pictures.prepare import LabelledPictures

WIDEST_GAP = 64
MARGIN = 2  # empty columns before and after a line


class LineOptions(Options):
    """Options for composing a line of signs."""

    shortest: int = Field(1, ge=1, le=64, description="Signs in the shortest line.")
    longest: int = Field(5, ge=1, le=64, description="Signs in the longest line.")
    gap: list[int] = Field(
        [-2, 6],
        min_length=2,
        max_length=2,
        description="Fewest and most columns between two signs; negative values overlap them, by half at most.",
    )
    train: int = Field(6400, ge=1, description="Training lines per epoch, new ones in each.")
    measured: int = Field(1000, ge=1, description="Lines of each evaluated split, always the same.")
    seed: int = Field(1, ge=0, lt=2**63, description="Seed of the evaluated lines.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.shortest > self.longest:
            raise ValueError(f"shortest: {self.shortest} is more than {self.longest}")
        if not -WIDEST_GAP <= self.gap[0] <= self.gap[1] <= WIDEST_GAP:
            raise ValueError(f"gap: {self.gap} is not a range from -{WIDEST_GAP} to {WIDEST_GAP}")
        return self


class LineData(Options):
    """Pictures of single signs, and the lines made from them."""

    train: LabelledFiles = Field(description="Training pictures of signs.")
    valid: LabelledFiles | None = Field(None, description="Validation pictures of signs.")
    test: LabelledFiles | None = Field(None, description="Test pictures of signs, for the final scores.")
    hold_out: int = Field(
        5000,
        ge=1,
        description="Training pictures to hold out for validation if 'valid' is missing; at most a fifth of them.",
    )
    lines: LineOptions = Field(LineOptions(), description="How to compose lines.")

    @property
    def signs(self) -> PictureData:
        """Pictures of single signs."""
        return PictureData(train=self.train, valid=self.valid, test=self.test, hold_out=self.hold_out)


class Line(NamedTuple):
    """One line: its pixels (height, width), 0 to 255, and the class numbers of its signs, from the left."""

    pixels: np.ndarray
    labels: np.ndarray


def write_line(signs: LabelledPictures, options: LineOptions, key: list[int]) -> Line:
    """Return the line of this key, with signs drawn from the given ones."""
    draws = np.random.default_rng(key)
    rows = draws.choice(signs.rows, draws.integers(options.shortest, options.longest + 1))
    gaps = draws.integers(options.gap[0], options.gap[1] + 1, len(rows))
    cropped = [_inked(signs.pictures[row]) for row in rows]
    firsts, place = [], MARGIN
    for sign, gap in zip(cropped, gaps, strict=True):
        firsts.append(place)
        # However narrow a sign is, half of it lies before the next: two strokes in one place would look like one.
        place += max(-(-sign.shape[1] // 2), sign.shape[1] + int(gap))
    ends = [first + sign.shape[1] for first, sign in zip(firsts, cropped, strict=True)]
    pixels = np.zeros((cropped[0].shape[0], max(ends) + MARGIN), np.uint8)
    for first, end, sign in zip(firsts, ends, cropped, strict=True):
        pixels[:, first:end] = np.maximum(pixels[:, first:end], sign)
    return Line(pixels, signs.labels[rows])


def _inked(picture: np.ndarray) -> np.ndarray:
    """Return the columns from the first with ink to the last, or all if there is none."""
    columns = np.flatnonzero(picture.max(axis=0))
    return picture[:, columns[0] : columns[-1] + 1] if len(columns) else picture
