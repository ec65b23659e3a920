"""Picture files as people have them, read as grey pixels: black is 0, white is 255."""

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from regard.base.faults import Fault
from regard.data.corpora.text import read_lines
from regard.data.pictures.idx import LARGEST_SIDE

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "PPM", "TIFF", "WEBP")
Size = tuple[int, int]  # height and width


def read_picture_file(path: Path, size: Size | None = None) -> np.ndarray:
    """The pixels (height, width) of a picture; one of another size than `size` is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a size that we refuse ourselves, before anything is decoded
            with Image.open(path, formats=FORMATS) as picture:
                _check_size(path, (picture.height, picture.width), size)
                return np.asarray(picture.convert("L"))
    except UnidentifiedImageError:
        raise Fault(f"{path} is no picture, or none in a format that can be read: {', '.join(FORMATS)}.") from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # no such file, or none that may be read
        raise Fault(f"{path} is a damaged picture: {error}.") from None


def _check_size(path: Path, found: Size, size: Size | None) -> None:
    if max(found) > LARGEST_SIDE:
        raise Fault(f"{path} has {found[0]} × {found[1]} pixels; a side has at most {LARGEST_SIDE}.")
    if size is not None and found != size:
        raise Fault(f"{path} has {found[0]} × {found[1]} pixels, expected {size[0]} × {size[1]} (height × width).")


def read_listing(path: Path) -> tuple[np.ndarray, list[str]]:
    """The pictures (count, height, width) that the lines of a file name, and their labels."""
    named = [_read_listing_line(path, number, line) for number, line in enumerate(read_lines(path), start=1)]
    if not named:
        raise Fault(f"{path} lists no picture.")
    first = read_picture_file(named[0][0])
    others = [read_picture_file(place, first.shape) for place, _ in named[1:]]
    return np.stack([first, *others]), [label for _, label in named]


def _read_listing_line(path: Path, number: int, line: str) -> tuple[Path, str]:
    name, tab, label = line.partition("\t")
    if not (name and tab and label.strip()):
        raise Fault(f"{path}, line {number}: a line must hold a picture's file, a tab, its label.")
    return path.parent / name, label.strip()


def read_picture_files(paths: Sequence[Path], size: Size) -> np.ndarray:
    """Several pictures of one size, one above the other."""
    return np.stack([read_picture_file(path, size) for path in paths])
