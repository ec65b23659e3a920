"""Pictures of any size made like those that a model learnt from: grey, of their size, on a background like theirs.

A picture of the size that the model reads is taken as it is. Any other is turned grey, scaled as a whole till it fits,
and padded evenly. Where the training pictures have a plain background, black or white by the median of their borders,
a picture on the opposite background is inverted, and contrast is stretched till the background is as plain as theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from regard.data.pictures.files import Size, read_grey, read_picture_file

WHITE = 255
PLAIN = 64  # a background within so much of black or of white is plain
LEAST_CONTRAST = 32  # between a background and what is on it; less is noise


class AsIs(str):
    """The file of a picture that is refused, and not made to fit, if the model cannot read it as it is."""

    __slots__ = ()


@dataclass(frozen=True)
class Expected:
    """The size of training pictures, and the brightness of their background, if that is known."""

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
    """A picture made to fit, and what was done to it, in words; nothing where it fitted before."""

    pixels: np.ndarray
    changes: tuple[str, ...] = ()


def background_of(pictures: np.ndarray) -> int:
    """Return the median brightness along the borders of pictures (…, height, width)."""
    borders = (pictures[..., 0, :], pictures[..., -1, :], pictures[..., :, 0], pictures[..., :, -1])
    return int(np.median(np.concatenate([border.ravel() for border in borders])))


def fit_picture_file(path: str | Path, expected: Expected) -> Fitted:
    """Read a picture as the model reads pictures; one that is to be taken as it is may be refused."""
    if isinstance(path, AsIs):
        return Fitted(read_picture_file(Path(path), expected.size))
    grey, had_colours = read_grey(Path(path))
    if grey.shape == expected.size:
        return Fitted(grey)
    fitted = _fit(grey, expected)
    return Fitted(fitted.pixels, (*(["turned grey"] if had_colours else []), *fitted.changes))


def fit_picture_files(paths: Sequence[str | Path], expected: Expected) -> np.ndarray:
    """Read several pictures (count, height, width) as the model reads pictures."""
    return np.stack([fit_picture_file(path, expected).pixels for path in paths])


def fitting_remark(path: str | Path, expected: Expected) -> str:
    """Return a sentence that says what is done to a picture before it is read; an empty one if nothing is."""
    changes = fit_picture_file(path, expected).changes
    return f"{path} is made like the training pictures: {', '.join(changes)}." if changes else ""


def _fit(grey: np.ndarray, expected: Expected) -> Fitted:
    own = background_of(grey)
    scaled = _scale(grey, expected.size)
    changes = [f"scaled from {_in_words(grey.shape)} to {_in_words(scaled.shape)} pixels"]
    if expected.is_light is not None:
        if expected.is_light != (own > WHITE // 2):
            scaled, own = WHITE - scaled, WHITE - own
            changes.append(f"inverted, for their background is {'white' if expected.is_light else 'black'}")
        scaled, own = _stretch(scaled, own, expected.is_light)
    if scaled.shape != expected.size:
        changes.append(f"padded to {_in_words(expected.size)}")
    return Fitted(_pad(scaled, expected.size, own), tuple(changes))


def _scale(grey: np.ndarray, size: Size) -> np.ndarray:
    """Return a picture with its proportions kept, as large as the size allows."""
    share = min(expected / found for expected, found in zip(size, grey.shape, strict=True))
    height, width = (max(1, min(most, round(side * share))) for side, most in zip(grey.shape, size, strict=True))
    return np.asarray(Image.fromarray(grey).resize((width, height), Image.Resampling.LANCZOS))


def _stretch(grey: np.ndarray, own: int, is_light: bool) -> tuple[np.ndarray, int]:
    """Return a picture whose background is wholly white or black and its strongest stroke the opposite, and which."""
    plain, farthest = (WHITE, int(grey.min())) if is_light else (0, int(grey.max()))
    if abs(farthest - own) < LEAST_CONTRAST:
        return grey, own
    shares = ((grey.astype(np.float64) - own) / (farthest - own)).clip(0, 1)
    return np.round(plain + (WHITE - 2 * plain) * shares).astype(np.uint8), plain


def _pad(grey: np.ndarray, size: Size, background: int) -> np.ndarray:
    missing = [most - found for most, found in zip(size, grey.shape, strict=True)]
    return np.pad(grey, [(each // 2, each - each // 2) for each in missing], constant_values=background)


def _in_words(size: Sequence[int]) -> str:
    return f"{size[0]} × {size[1]}"
