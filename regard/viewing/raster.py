"""Pictures of pixels as pages and terminals take them."""

from typing import Any

import numpy as np

from regard.base.faults import Fault

MOST_BYTES = 4_000_000  # of a picture on a page
# Ink of a pixel in a terminal, from dark to bright.
_INK = " ░▒▓█"


def grey(picture: np.ndarray) -> np.ndarray:
    """The brightness (height, width) of a picture, from 0 to 1 (the weights of ITU-R BT.601)."""
    return picture if picture.ndim == 2 else picture @ np.array([0.299, 0.587, 0.114])


def page_picture(picture: np.ndarray) -> dict[str, Any]:
    """A picture as a page takes it: bytes of red, green and blue, or of grey alone, row after row."""
    if picture.size > MOST_BYTES:
        raise Fault(
            f"A page of this picture would hold {picture.size:,} bytes, but the limit is {MOST_BYTES:,}; draw a .png."
        )
    values = np.rint(np.clip(picture, 0, 1) * 255).astype(int)
    return {"height": picture.shape[0], "width": picture.shape[1], "bytes": values.ravel().tolist()}


def ink_rows(picture: np.ndarray, width: int) -> list[list[str]]:
    """Rows of pixels as pairs of cells of a terminal, brighter ones with more ink; made smaller to fit `width`."""
    step = max(1, -(-2 * picture.shape[1] // max(width, 2)))
    small = _average(grey(picture), step)
    return [[_INK[min(int(value * len(_INK)), len(_INK) - 1)] * 2 for value in row] for row in np.clip(small, 0, 1)]


def _average(picture: np.ndarray, step: int) -> np.ndarray:
    """Blocks of step × step pixels as their mean; what is left over at the edges joins the last block."""
    rows, columns = (np.arange(0, max(size - step + 1, 1), step) for size in picture.shape)
    sums = np.add.reduceat(np.add.reduceat(picture, rows, axis=0), columns, axis=1)
    counts = np.add.reduceat(np.add.reduceat(np.ones_like(picture), rows, axis=0), columns, axis=1)
    return sums / counts
