"""Pixel pictures for pages and terminals."""

from typing import Any

import numpy as np

from regard.base.faults import Fault

MOST_BYTES = 4_000_000  # of a picture on a page
# Shades of a pixel in a terminal, from dark to bright.
_INK = " ░▒▓█"


def grey(picture: np.ndarray) -> np.ndarray:
    """Return the brightness (height, width) of a picture from 0 to 1, with the weights of ITU-R BT.601."""
    return picture if picture.ndim == 2 else picture @ np.array([0.299, 0.587, 0.114])


def page_picture(picture: np.ndarray) -> dict[str, Any]:
    """Return the data of a picture for a page: bytes of red, green and blue, or of grey, row by row."""
    if picture.size > MOST_BYTES:
        raise Fault(
            f"A page of this picture would hold {picture.size:,} bytes, but the limit is {MOST_BYTES:,}; draw a .png."
        )
    values = np.rint(np.clip(picture, 0, 1) * 255).astype(int)
    return {"height": picture.shape[0], "width": picture.shape[1], "bytes": values.ravel().tolist()}


def ink_rows(picture: np.ndarray, width: int) -> list[list[str]]:
    """Return rows of pixels as pairs of terminal cells, fuller for brighter pixels, scaled down to fit `width`."""
    step = max(1, -(-2 * picture.shape[1] // max(width, 2)))
    small = _average(grey(picture), step)
    return [[_INK[min(int(value * len(_INK)), len(_INK) - 1)] * 2 for value in row] for row in np.clip(small, 0, 1)]


def _average(picture: np.ndarray, step: int) -> np.ndarray:
    """Return the mean of each block of step × step pixels; leftover pixels at the edges join the last block."""
    rows, columns = (np.arange(0, max(size - step + 1, 1), step) for size in picture.shape)
    sums = np.add.reduceat(np.add.reduceat(picture, rows, axis=0), columns, axis=1)
    counts = np.add.reduceat(np.add.reduceat(np.ones_like(picture), rows, axis=0), columns, axis=1)
    return sums / counts
