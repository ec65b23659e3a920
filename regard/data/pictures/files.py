"""Picture files as people have them, read as pixels from 0 to 255: black is 0, white is 255.

Files need not be trusted: how large a picture is stands in its head, and is checked before anything is decoded.
Pictures are read as viewers show them: turned as their camera says, what is transparent over white, of what moves the
first frame.
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
MOST_PIXELS = 50_000_000  # of a picture in colours
FEWEST_PIXELS = 8  # a side of one; less shows nothing
_AT_ONCE = 1_000_000  # pixels that are converted together
Size = tuple[int, int]  # height and width
_OF_16_BITS = ("I", "I;16", "I;16L", "I;16B", "I;16N")
_READABLE = ("1", "L", "P", "RGB", "RGBX", "CMYK", "YCbCr", "HSV", "LA", "PA", "La", "RGBA", "RGBa", *_OF_16_BITS)


def read_picture_file(path: Path, size: Size | None = None) -> np.ndarray:
    """The grey pixels (height, width) of a small picture; one of another size than `size` is refused."""

    def check(found: Size) -> None:
        if max(found) > LARGEST_SIDE:
            raise Fault(f"{path} has {in_pixels(found)}; a side has at most {LARGEST_SIDE}.")

    grey = _read(path, str(path), "L", check, ignore_remark)
    if size is not None and grey.shape != size:
        found, expected = (f"{height} × {width}" for height, width in (grey.shape, size))
        raise Fault(f"{path} has {found} pixels, expected {expected} (height × width).")
    return grey


def read_grey(path: Path) -> tuple[np.ndarray, bool]:
    """Return the grey pixels (height, width) of a picture of any size, and whether it was in colours."""

    def check(found: Size) -> None:
        if found[0] * found[1] > MOST_PIXELS:
            raise Fault(f"{path} has {in_pixels(found)}; a picture has at most {MOST_PIXELS:,} in all.")

    with open_picture(path, str(path), check) as picture:
        upright = in_eight_bits(str(path), ImageOps.exif_transpose(picture))
        return np.asarray(upright.convert("L")), upright.mode not in ("1", "L") and _has_colours(upright)


def _has_colours(picture: Image.Image) -> bool:
    red, green, blue = picture.convert("RGB").split()
    return any(ImageChops.difference(red, other).getbbox() for other in (green, blue))


def read_colours(source: Path | bytes, name: str | None = None, remark: Remark = ignore_remark) -> np.ndarray:
    """The pixels (height, width, 3) in red, green and blue of a file, or of the content of one called `name`."""
    name = name or str(source)
    return _read(source, name, "RGB", lambda found: check_size(name, found), remark)


def check_size(name: str, found: Size) -> None:
    """Refuse a picture in colours that is too small to show anything, or too large to be read."""
    if min(found) < FEWEST_PIXELS or found[0] * found[1] > MOST_PIXELS:
        raise Fault(
            f"{name} has {in_pixels(found)}; a picture has at least {FEWEST_PIXELS} a side and at most"
            f" {MOST_PIXELS:,} in all."
        )


def in_pixels(size: Size) -> str:
    """A size in words, which say where it matters that the height comes first: elsewhere the width often does."""
    height, width = size
    return f"{height} × {width} pixels" + ("" if height == width else " (height × width)")


def squash(colours: np.ndarray, side: int) -> np.ndarray:
    """A picture (height, width, 3) as a square one (side, side, 3), whatever becomes of its proportions."""
    return np.array(Image.fromarray(colours).resize((side, side), Image.Resampling.BICUBIC))


def shrink(colours: np.ndarray, longest: int) -> np.ndarray:
    """A picture whose longer side has at most so many pixels, its proportions kept."""
    picture = Image.fromarray(colours)
    picture.thumbnail((longest, longest), Image.Resampling.LANCZOS)
    return np.asarray(picture)


def _read(
    source: Path | bytes, name: str, mode: Literal["L", "RGB"], check: Callable[[Size], None], remark: Remark
) -> np.ndarray:
    with open_picture(source, name, check) as picture:
        if is_moving(picture):
            remark(f"{name} holds several frames; the first is read.")
        ImageOps.exif_transpose(picture, in_place=True)
        return _pixels(name, picture, mode)


def _pixels(name: str, picture: Image.Image, mode: Literal["L", "RGB"]) -> np.ndarray:
    """Return a picture in eight bits, converted some rows at a time: every step would copy the whole of it."""
    pixels = np.empty((picture.height, picture.width, *([3] if mode == "RGB" else [])), np.uint8)
    rows = max(1, _AT_ONCE // picture.width)
    for top in range(0, picture.height, rows):
        strip = picture.crop((0, top, picture.width, min(top + rows, picture.height)))
        pixels[top : top + rows] = np.asarray(in_eight_bits(name, strip).convert(mode))
    return pixels


def is_moving(picture: Image.Image) -> bool:
    """Return True if a picture holds several frames; in an MPO these are previews that a camera kept."""
    return getattr(picture, "is_animated", False) and picture.format != "MPO"


@contextmanager
def open_picture(source: Path | bytes, name: str, check: Callable[[Size], None]) -> Iterator[Image.Image]:
    """A picture as PIL has it, its size checked before it is decoded; damage met inside this block is refused."""
    between_steps()
    if not (source if isinstance(source, bytes) else source.stat().st_size):
        raise Fault(f"{name} is empty, so it is not a picture.")
    file = BytesIO(source) if isinstance(source, bytes) else source
    with _refusing_damage(name), Image.open(file, formats=FORMATS) as picture:
        check((picture.height, picture.width))
        if picture.mode not in _READABLE:
            raise Fault(
                f"{name} is a picture whose pixels, of the mode {picture.mode}, cannot be read; save it as PNG."
            )
        yield picture


@contextmanager
def _refusing_damage(name: str) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a size that we refuse ourselves, and of odd notes of cameras
            yield
    except (Fault, MemoryError):
        raise
    except UnidentifiedImageError:
        raise Fault(f"{name} is not in a picture format that can be read: {', '.join(FORMATS)}.") from None
    except Image.DecompressionBombError:
        raise Fault(f"{name} has too many pixels; a picture may have at most {MOST_PIXELS:,}.") from None
    except Exception as error:  # decoders meet damage in whatever way nobody thought of
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):
            raise  # no such file, or none that may be read; a place that no file can have is damage
        raise Fault(f"{name} is a damaged picture: {str(error).rstrip('.')}.") from None


def in_eight_bits(name: str, picture: Image.Image) -> Image.Image:
    """Return the picture with 8 bits per colour and nothing transparent."""
    if picture.mode in _OF_16_BITS:
        values = np.asarray(picture).astype(np.int64)  # which PIL would cut off at 255
        if values.min() < 0 or values.max() >= 2**16:
            raise Fault(f"{name} has pixels of more than 16 bits; save it with 8 or 16.")
        return Image.fromarray((values >> 8).astype(np.uint8))
    if picture.has_transparency_data:
        behind = Image.new("RGBA", picture.size, "white")
        return Image.alpha_composite(behind, picture.convert("RGBA"))
    return picture


def read_listing(path: Path, labelled: bool = True) -> tuple[np.ndarray, list[str]]:
    """The pictures (count, height, width) that the lines of a file name, and their labels, if all must have one."""
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
