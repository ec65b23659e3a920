"""A path of glimpses over a picture: at each step squares around one place, and what was seen in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class GlimpsePath:
    """A picture, grey or in colours from 0 to 1, and the squares through which it was looked at step by step.

    `centres` (step, 2) are across and down in pixels from the upper left corner, `extents` (step, scale) the sides of
    the squares in pixels. What a model sees of a square is as many pixels a side as the smallest square of all has.
    """

    title: str
    picture: np.ndarray
    steps: list[str]
    centres: np.ndarray
    extents: np.ndarray

    def __post_init__(self) -> None:
        if len(self.steps) != len(self.centres) or len(self.steps) != len(self.extents) or not self.extents.size:
            raise ValueError(
                f"{len(self.steps)} steps do not fit {len(self.centres)} centres and {len(self.extents)} extents"
            )

    @property
    def sharpness(self) -> int:
        """How many pixels a side is seen of every square."""
        return max(1, round(float(self.extents.min())))

    def squares(self, step: int) -> list[tuple[float, float, float]]:
        """The left and upper edge and the side of each square of a step, the smallest first."""
        across, down = self.centres[step].tolist()
        return [(across - side / 2, down - side / 2, side) for side in sorted(self.extents[step].tolist())]

    def patches(self, step: int) -> list[np.ndarray]:
        """What was seen in each square of a step, averaged down to the same size; beyond the picture it is black."""
        return [_patch(self.picture, left, top, side, self.sharpness) for left, top, side in self.squares(step)]


def _patch(picture: np.ndarray, left: float, top: float, side: float, pixels: int) -> np.ndarray:
    """A square of a picture as pixels × pixels means; a window that lies between pixels takes the nearest."""
    finer = max(1, round(side / pixels))  # samples a pixel, across and down
    offsets = (np.arange(pixels * finer) + 0.5) * side / (pixels * finer)
    columns, rows = (np.floor(start + offsets).astype(int) for start in (left, top))
    height, width = picture.shape[:2]
    seen = picture[np.clip(rows, 0, height - 1)][:, np.clip(columns, 0, width - 1)].astype(float)
    seen[(rows < 0) | (rows >= height)] = 0
    seen[:, (columns < 0) | (columns >= width)] = 0
    return seen.reshape(pixels, finer, pixels, finer, *picture.shape[2:]).mean(axis=(1, 3))


def to_json(path: GlimpsePath) -> dict[str, Any]:
    """The same as plain values, every number as it is."""
    return {
        "title": path.title,
        "picture": path.picture.tolist(),
        "steps": list(path.steps),
        "centres": path.centres.tolist(),
        "extents": path.extents.tolist(),
    }


def from_json(value: Mapping[str, Any]) -> GlimpsePath:
    """What `to_json` was given."""
    picture, centres, extents = (np.array(value[name]) for name in ("picture", "centres", "extents"))
    return GlimpsePath(value["title"], picture, value["steps"], centres, extents)
