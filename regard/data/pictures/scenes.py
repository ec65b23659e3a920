"""Scenes: larger pictures made from small ones, each a pure function of a key and its row number.

The translated and cluttered MNIST of Mnih et al. 2014 (section 4.1) are made like this: a digit at a random place on a
black canvas, with pieces of other digits over it, keeping the brighter pixel. So are the two digits of Gregor et al.
2015 (section 4.4), where brightness adds up.
"""

from hashlib import blake2b

import numpy as np

from regard.data.pictures.options import PIECE, Scene

_STEP = np.uint64(0x9E3779B97F4A7C15)


def make_scenes(
    pictures: np.ndarray, rows: np.ndarray, scene: Scene, key: tuple[int | str, ...], among: np.ndarray | None = None
) -> np.ndarray:
    """Return the scenes (row, side, side) of these rows of `pictures` (count, height, width).

    Clutter comes from all `pictures`; further whole pictures come from the rows `among` them.
    """
    count, height, width = pictures.shape
    draws, side, piece = _Draws(key, rows), scene.side, (PIECE, PIECE)
    canvas, places = np.zeros((len(rows), side, side), np.uint8), np.arange(len(rows))
    pixels, of_pictures = canvas.reshape(-1), pictures.reshape(-1)
    whole = _squares(canvas, places, draws.below(side - height + 1), draws.below(side - width + 1), (height, width))
    pixels[whole] = pictures[rows]
    for _ in range(scene.pictures - 1):
        others = draws.below(count) if among is None else among[draws.below(len(among))]
        target = _squares(
            canvas, places, draws.below(side - height + 1), draws.below(side - width + 1), (height, width)
        )
        pixels[target] = np.minimum(pixels[target].astype(np.uint16) + pictures[others], 255)
    for _ in range(scene.clutter):
        others = draws.below(count)
        source = _squares(pictures, others, draws.below(height - PIECE + 1), draws.below(width - PIECE + 1), piece)
        target = _squares(canvas, places, draws.below(side - PIECE + 1), draws.below(side - PIECE + 1), piece)
        pixels[target] = np.maximum(pixels[target], of_pictures[source])
    return canvas


def _squares(
    pictures: np.ndarray, numbers: np.ndarray, top: np.ndarray, left: np.ndarray, size: tuple[int, int]
) -> np.ndarray:
    """Return flat indices of one rectangle in each numbered picture, by its upper left corner.

    A single flat index is several times faster than one per axis.
    """
    _, height, width = pictures.shape
    corners = (numbers * height + top) * width + left
    return corners[:, None, None] + np.arange(size[0])[:, None] * width + np.arange(size[1])


class _Draws:
    """Random numbers for many rows at once; a row gets the same numbers whichever rows it is drawn with.

    A generator for each row would take longer than the scenes; this is splitmix64 (Steele et al. 2014), one for each
    row.
    """

    def __init__(self, key: tuple[int | str, ...], rows: np.ndarray) -> None:
        digest = blake2b(",".join(map(str, key)).encode(), digest_size=8).digest()
        self._state = _mix(rows.astype(np.uint64) * _STEP + np.frombuffer(digest, np.uint64))

    def below(self, end: int) -> np.ndarray:
        """Return a number from 0 up to, but not including, `end` for each row."""
        self._state = self._state + _STEP
        return ((_mix(self._state) >> np.uint64(32)) * np.uint64(end) >> np.uint64(32)).astype(np.int64)


def _mix(numbers: np.ndarray) -> np.ndarray:
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
