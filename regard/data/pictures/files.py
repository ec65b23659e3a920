"""Read picture files as pixels from 0 to 255: black is 0, white is 255.

Files are not trusted: a picture's size is checked in its header before anything is decoded. Pictures are read as
viewers show them: rotated as the camera recorded, transparent parts over white, and only the first frame of animations.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EINVAL
from io import BytesIO
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image, ImageChops, ImageOps, UnidentifiedImageError

from regard.base.faults import Fault
from regard.base.pauses import between_steps
from regard.base.progress import Remark, ignore_remark
from regard.data.lines import read_lines
from regard.data.pictures.idx import LARGEST_SIDE

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "PPM", "TIFF", "WEBP")
MOST_PIXELS = 50_000_000  # of a colour picture
FEWEST_PIXELS = 8  # per side; fewer show nothing
_AT_ONCE = 1_000_000  # pixels converted at once
Size = tuple[int, int]  # height and width
_OF_16_BITS = ("I", "I;16", "I;16L", "I;16B", "I;16N")
_READABLE = ("1", "L", "P", "RGB", "RGBX", "CMYK", "YCbCr", "HSV", "LA", "PA", "La", "RGBA", "RGBa", *_OF_16_BITS)


def read_picture_file(path: Path, size: Size | None = None) -> np.ndarray:
    """Return the grey pixels (height, width) of a small picture; refuse any size but `size`, if given."""

    def check(actual: Size) -> None:
        if max(actual) > LARGEST_SIDE:
            raise Fault(f"{path} has {in_pixels(actual)}; a side has at most {LARGEST_SIDE}.")

    grey = _read(path, str(path), "L", check, ignore_remark)
    if size is not None and grey.shape != size:
        shape, expected = (f"{height} × {width}" for height, width in (grey.shape, size))
        raise Fault(f"{path} has {shape} pixels, expected {expected} (height × width).")
    return grey


def read_grey(path: Path) -> tuple[np.ndarray, bool]:
    """Return the grey pixels (height, width) of a picture of any size, and True if it was in colour."""

    def check(actual: Size) -> None:
        if actual[0] * actual[1] > MOST_PIXELS:
            raise Fault(f"{path} has {in_pixels(actual)}; a picture has at most {MOST_PIXELS:,} in all.")

    with open_picture(path, str(path), check) as picture:
        upright = in_eight_bits(str(path), ImageOps.exif_transpose(picture))
        return np.asarray(upright.convert("L")), upright.mode not in ("1", "L") and _has_colours(upright)


def _has_colours(picture: Image.Image) -> bool:
    red, green, blue = picture.convert("RGB").split()
    return any(ImageChops.difference(red, other).getbbox() for other in (green, blue))


def read_colours(source: Path | bytes, name: str | None = None, remark: Remark = ignore_remark) -> np.ndarray:
    """Return the pixels (height, width, 3) in red, green and blue of a file, or of content named `name`."""
    name = name or str(source)
    return _read(source, name, "RGB", lambda size: check_size(name, size), remark)


def check_size(name: str, size: Size) -> None:
    """Refuse a colour picture that is too small to show anything, or too large to read."""
    if min(size) < FEWEST_PIXELS or size[0] * size[1] > MOST_PIXELS:
        raise Fault(
            f"{name} has {in_pixels(size)}; a picture must have at least {FEWEST_PIXELS} per side and at most "
            f"{MOST_PIXELS:,} in all."
        )


def in_pixels(size: Size) -> str:
    """Describe a size in words; where it matters, say that the height comes first."""
    height, width = size
    return f"{height} × {width} pixels" + ("" if height == width else " (height × width)")


def squash(colours: np.ndarray, side: int) -> np.ndarray:
    """Resize a picture (height, width, 3) to a square (side, side, 3), ignoring its proportions."""
    return np.array(Image.fromarray(colours).resize((side, side), Image.Resampling.BICUBIC))


def shrink(colours: np.ndarray, longest: int) -> np.ndarray:
    """Shrink a picture so that its longer side has at most `longest` pixels, keeping its proportions."""
    picture = Image.fromarray(colours)
    picture.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    return np.asarray(picture)


def _read(
    source: Path | bytes, name: str, mode: Literal["L", "RGB"], check: Callable[[Size], None], remark: Remark
) -> np.ndarray:
    with open_picture(source, name, check) as picture:
        if is_moving(picture):
            remark(f"{name} holds several frames; only the first is read.")
        ImageOps.exif_transpose(picture, in_place=True)
        return _pixels(name, picture, mode)


def _pixels(name: str, picture: Image.Image, mode: Literal["L", "RGB"]) -> np.ndarray:
    """Return a picture in eight bits, converted a few rows at a time, since every step copies its input."""
    pixels = np.empty((picture.height, picture.width, *([3] if mode == "RGB" else [])), np.uint8)
    rows = max(1, _AT_ONCE // picture.width)
    for top in range(0, picture.height, rows):
        strip = picture.crop((0, top, picture.width, min(top + rows, picture.height)))
        pixels[top : top + rows] = np.asarray(in_eight_bits(name, strip).convert(mode))
    return pixels


def is_moving(picture: Image.Image) -> bool:
    """Return True if a picture holds several frames; in an MPO these are camera previews and do not count."""
    return getattr(picture, "is_animated", False) and picture.format != "MPO"


@contextmanager
def open_picture(source: Path | bytes, name: str, check: Callable[[Size], None]) -> Iterator[Image.Image]:
    """Open a picture with PIL, checking its size before decoding; refuse damage found inside this block."""
    between_steps()
    if not (source if isinstance(source, bytes) else source.stat().st_size):
        raise Fault(f"{name} is empty, so it is not a picture.")
    file = BytesIO(source) if isinstance(source, bytes) else source
    with _refusing_damage(name), Image.open(file, formats=FORMATS) as picture:
        check((picture.height, picture.width))
        if picture.mode not in _READABLE:
            raise Fault(f"{name} is a picture in the mode {picture.mode}, which cannot be read; save it as PNG.")
        yield picture


@contextmanager
def _refusing_damage(name: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about sizes, which we refuse ourselves, and odd camera metadata
            yield
    except (Fault, MemoryError):
        raise
    except UnidentifiedImageError:
        raise Fault(f"{name} is not in a picture format that can be read: {', '.join(FORMATS)}.") from None
    except Image.DecompressionBombError:
        raise Fault(f"{name} has too many pixels; a picture may have at most {MOST_PIXELS:,}.") from None
    except Exception as error:  # decoders fail on damage in unforeseen ways
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):
            raise  # missing or unreadable file; an impossible offset is damage
        raise Fault(f"{name} is a damaged picture: {str(error).rstrip('.')}.") from None


def in_eight_bits(name: str, picture: Image.Image) -> Image.Image:
    """Return the picture with 8 bits per colour and nothing transparent."""
    if picture.mode in _OF_16_BITS:
        values = np.asarray(picture).astype(np.int64)  # PIL would clip these at 255
        if values.min() < 0 or values.max() >= 2**16:
            raise Fault(f"{name} has pixels of more than 16 bits; save it with 8 or 16.")
        return Image.fromarray((values >> 8).astype(np.uint8))
    if picture.has_transparency_data:
        background = Image.new("RGBA", picture.size, "white")
        return Image.alpha_composite(background, picture.convert("RGBA"))
    return picture


def read_listing(path: Path, labelled: bool = True) -> tuple[np.ndarray, list[str]]:
    """Return the pictures (count, height, width) that a file lists, and their labels; `labelled` requires them."""
    named = [_read_listing_line(path, number, line, labelled) for number, line in enumerate(read_lines(path), start=1)]
    if not named:
        raise Fault(f"{path} lists no picture.")
    first = read_picture_file(named[0][0])
    others = [read_picture_file(place, first.shape) for place, _ in named[1:]]
    return np.stack([first, *others]), [label for _, label in named]


def _read_listing_line(path: Path, number: int, line: str, labelled: bool) -> tuple[Path, str]:
    name, _, label = line.partition("\t")
    if not name or (labelled and not label.strip()):
        expected = "a picture's file, a tab, its label" if labelled else "a picture's file"
        raise Fault(f"{path}, line {number}: a line must hold {expected}.")
    return path.parent / name, label.strip()
