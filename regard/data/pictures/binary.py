"""Pictures of black and white pixels alone, made of grey ones once and for all by a seed."""

import numpy as np
from pydantic import Field

from regard.data.pictures.options import PictureSets

_AT_ONCE = 10_000  # pictures


class BinaryData(PictureSets):
    """Pictures to learn from and to measure by, in which every pixel is made black or white; labels are not read."""

    hold_out: int = Field(
        10_000, ge=1, description="Training pictures set aside for validation without 'valid', at most a fifth of them."
    )
    binary_seed: int = Field(
        1,
        ge=0,
        lt=2**63,
        description="Seed by which each pixel becomes white, once, with its brightness as the probability.",
    )

    @property
    def grey(self) -> PictureSets:
        """The pictures as they are in their files."""
        return PictureSets(train=self.train, valid=self.valid, test=self.test, hold_out=self.hold_out, scene=self.scene)


def binarise(pictures: np.ndarray, key: list[int]) -> np.ndarray:
    """Each pixel white (255) with its brightness, from 0 to 255, as the probability, and else black (0)."""
    draws, found = np.random.default_rng(key), np.empty(pictures.shape, np.uint8)
    for first in range(0, len(pictures), _AT_ONCE):
        grey = pictures[first : first + _AT_ONCE]
        found[first : first + _AT_ONCE] = np.where(draws.random(grey.shape, np.float32) * 255 < grey, 255, 0)
    return found
