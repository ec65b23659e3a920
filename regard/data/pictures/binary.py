"""Black-and-white pictures, made from grey ones once by a seed."""

import numpy as np
from pydantic import Field

from regard.data.pictures.options import PictureSets

_AT_ONCE = 10_000  # pictures


class BinaryData(PictureSets):
    """Training and evaluation pictures in which every pixel is made black or white; labels are not read."""

    hold_out: int = Field(
        10_000,
        ge=1,
        description="Training pictures to hold out for validation if 'valid' is missing; at most a fifth of them.",
    )
    binary_seed: int = Field(
        1,
        ge=0,
        lt=2**63,
        description="Seed for making each pixel white, once, with its brightness as the probability.",
    )

    @property
    def grey(self) -> PictureSets:
        """The pictures as stored in their files."""
        return PictureSets(train=self.train, valid=self.valid, test=self.test, hold_out=self.hold_out, scene=self.scene)


def binarise(pictures: np.ndarray, key: list[int]) -> np.ndarray:
    """Make each pixel white (255) with its brightness, from 0 to 255, as the probability, otherwise black (0)."""
    draws, binary = np.random.default_rng(key), np.empty(pictures.shape, np.uint8)
    for first in range(0, len(pictures), _AT_ONCE):
        grey = pictures[first : first + _AT_ONCE]
        binary[first : first + _AT_ONCE] = np.where(draws.random(grey.shape, np.float32) * 255 < grey, 255, 0)
    return binary
