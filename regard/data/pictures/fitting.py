"""Make pictures of any size like the training pictures: grey, of the same size, on a similar background.

A picture of the right size is used unchanged. Any other is converted to grey, scaled as a whole to fit, and padded
evenly. If the training pictures have a plain background, black or white by the median of their borders, a picture on
the opposite background is inverted, and its contrast is stretched until the background is as plain as theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from regard.data.pictures.files import Size, read_grey, read_picture_file

WHITE = 255
PLAIN = 64  # a background within this distance of black or white is plain
LEAST_CONTRAST = 32  # between the background and the drawing; less is noise


class AsIs(str):
    """File of a picture to use unchanged; it is refused, not made to fit, if the model cannot read it."""

    __slots__ = ()


@dataclass(frozen=True)
class Expected:
    """Size of the training pictures, and the brightness of their background, if known."""

    size: Size
    background: int | None = None

    @property
    def is_light(self) -> bool | None:
        """True if the background is white, False if it is black, None if it is neither."""
        if self.background is None or PLAIN <= self.background <= WHITE - PLAIN:
            return None
        return self.background > WHITE // 2


@dataclass(frozen=True)
class Fitted:
    """A picture made to fit, and the changes in words; none if it already fitted."""

    pixels: np.ndarray
    changes: tuple[str, ...] = ()


def background_of(pictures: np.ndarray) -> int:
    """Return the median brightness along the borders of pictures (…, height, width)."""
    borders = (pictures[..., 0, :], pictures[..., -1, :], pictures[..., :, 0], pictures[..., :, -1])
    return int(np.median(np.concatenate([border.ravel() for border in borders])))


def fit_picture_file(path: str | Path, expected: Expected) -> Fitted:
    """Read a picture the way the model reads pictures; refuse an `AsIs` file that does not fit."""
    if isinstance(path, AsIs):
        return Fitted(read_picture_file(Path(path), expected.size))
    grey, had_colours = read_grey(Path(path))
    if grey.shape == expected.size:
        return Fitted(grey)
    fitted = _fit(grey, expected)
    return Fitted(fitted.pixels, (*(["turned grey"] if had_colours else []), *fitted.changes))


def fit_picture_files(paths: Sequence[str | Path], expected: Expected) -> np.ndarray:
    """Read several pictures (count, height, width) the way the model reads pictures."""
    return np.stack([fit_picture_file(path, expected).pixels for path in paths])


def fitting_remark(path: str | Path, expected: Expected) -> str:
    """Return a sentence on how a picture is changed before reading; empty if it is not."""
    changes = fit_picture_file(path, expected).changes
    return f"{path} is adapted to the training pictures: {', '.join(changes)}." if changes else ""


def _fit(grey: np.ndarray, expected: Expected) -> Fitted:
    background = background_of(grey)
    scaled = _scale(grey, expected.size)
    changes = [f"scaled from {_in_words(grey.shape)} to {_in_words(scaled.shape)} pixels"]
    if expected.is_light is not None:
        if expected.is_light != (background > WHITE // 2):
            scaled, background = WHITE - scaled, WHITE - background
            changes.append(f"inverted, because their background is {'white' if expected.is_light else 'black'}")
        scaled, background = _stretch(scaled, background, expected.is_light)
    if scaled.shape != expected.size:
        changes.append(f"padded to {_in_words(expected.size)}")
    return Fitted(_pad(scaled, expected.size, background), tuple(changes))


def _scale(grey: np.ndarray, size: Size) -> np.ndarray:
    """Return a picture as large as the size allows, keeping its proportions."""
    share = min(expected / actual for expected, actual in zip(size, grey.shape, strict=True))
    height, width = (max(1, min(most, round(side * share))) for side, most in zip(grey.shape, size, strict=True))
    return np.asarray(Image.fromarray(grey).resize((width, height), Image.Resampling.LANCZOS))


def _stretch(grey: np.ndarray, background: int, is_light: bool) -> tuple[np.ndarray, int]:
    """Stretch the background to white or black and the strongest stroke to the opposite; return both."""
    plain, farthest = (WHITE, int(grey.min())) if is_light else (0, int(grey.max()))
    if abs(farthest - background) < LEAST_CONTRAST:
        return grey, background
    shares = ((grey.astype(np.float64) - background) / (farthest - background)).clip(0, 1)
    return np.round(plain + (WHITE - 2 * plain) * shares).astype(np.uint8), plain


def _pad(grey: np.ndarray, size: Size, background: int) -> np.ndarray:
    missing = [most - actual for most, actual in zip(size, grey.shape, strict=True)]
    return np.pad(grey, [(gap // 2, gap - gap // 2) for gap in missing], constant_values=background)


def _in_words(size: Sequence[int]) -> str:
    return f"{size[0]} × {size[1]}"
