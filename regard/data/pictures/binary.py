"""Pictures of black and white pixels alone, made of grey ones once and for all by a seed."""

from typing import Any

import numpy as np
from pydantic import Field, field_validator

from regard.base.recipe import Options
from regard.data.pictures.options import PictureData, PictureFiles, Scene, listing_of

_AT_ONCE = 10_000  # pictures


class BinaryData(Options):
    """Pictures to learn from and to measure by, in which every pixel is made black or white."""

    train: PictureFiles = Field(description="Pictures to learn from; their labels are not used.")
    valid: PictureFiles | None = Field(None, description="Pictures to watch the training by.")
    test: PictureFiles | None = Field(None, description="Pictures for the final scores.")
    hold_out: int = Field(
        10_000, ge=1, description="Training pictures set aside for validation without 'valid', at most a fifth of them."
    )
    scene: Scene | None = Field(None, description="How larger pictures are made of them; without it, they stay.")
    binary_seed: int = Field(
        1,
        ge=0,
        lt=2**63,
        description="Seed by which each pixel becomes white, once, with its brightness as the probability.",
    )

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        return listing_of(value)

    @property
    def grey(self) -> PictureData:
        """The pictures as they are in their files."""
        return PictureData(train=self.train, valid=self.valid, test=self.test, hold_out=self.hold_out, scene=self.scene)


def binarise(pictures: np.ndarray, key: list[int]) -> np.ndarray:
    """Each pixel white (255) with its brightness, from 0 to 255, as the probability, and else black (0)."""
    draws, found = np.random.default_rng(key), np.empty(pictures.shape, np.uint8)
    for first in range(0, len(pictures), _AT_ONCE):
        grey = pictures[first : first + _AT_ONCE]
        found[first : first + _AT_ONCE] = np.where(draws.random(grey.shape, np.float32) * 255 < grey, 255, 0)
    return found
