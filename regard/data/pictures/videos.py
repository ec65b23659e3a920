"""Read videos, animated pictures or folders of frames, as some frames spread evenly over each.

Files are not trusted: the size and number of frames are checked before any is decoded.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from regard.base.faults import Fault
from regard.base.names import natural_order
from regard.base.pauses import between_steps
from regard.data.pictures.files import check_size, in_eight_bits, in_pixels, is_moving, open_picture, read_colours

MOST_FRAMES = 3000
MOST_OF_A_FRAME = 10_000_000  # pixels; decoding one frame holds several in memory
MOST_PIXELS = 1_000_000_000  # in all frames, which are decoded one after another


def read_frames(source: Path | bytes, name: str, count: int) -> Iterator[np.ndarray]:
    """Yield `count` frames (height, width, 3) from the first to the last; shorter videos repeat some."""
    if isinstance(source, Path) and source.is_dir():
        yield from _read_folder(source, name, count)
        return
    with open_picture(source, name, lambda size: check_size(name, size)) as picture:
        available = getattr(picture, "n_frames", 1)
        if available < 2:
            raise Fault(f"{name} is a still picture; give a GIF with several frames, or a folder of frames.")
        _check_length(name, available, picture.height * picture.width)
        _check_frame(name, picture)
        for number in spread(available, count):
            between_steps()
            while picture.tell() < number:  # one by one, since each may be larger than the one before
                picture.seek(picture.tell() + 1)
                _check_frame(name, picture)
            yield _colours(name, picture)


def spread(available: int, count: int) -> list[int]:
    """Return which of the `available` frames to read to get `count`: from the first to the last, evenly."""
    return [round(place * (available - 1) / (count - 1)) for place in range(count)]


def _read_folder(folder: Path, name: str, count: int) -> Iterator[np.ndarray]:
    files = sorted(
        (file for file in folder.iterdir() if not file.name.startswith(".")), key=lambda file: natural_order(file.name)
    )
    if len(files) < 2:
        amount = "one frame" if files else "no frame"
        raise Fault(f"The folder {name} holds {amount}; a video needs several, each in its own picture file.")
    _check_length(name, len(files), 0)
    first: Sequence[int] = ()
    for number in spread(len(files), count):
        _refuse_moving(files[number])
        colours = read_colours(files[number])
        first = first or colours.shape
        if colours.shape != first:
            sizes = (in_pixels((height, width)) for height, width, _ in (colours.shape, first))
            raise Fault("{} has {}, but the first frame has {}.".format(files[number], *sizes))
        yield colours


def _refuse_moving(frame: Path) -> None:
    with open_picture(frame, str(frame), lambda size: check_size(str(frame), size)) as picture:
        if is_moving(picture):
            raise Fault(
                f"{frame} is a video itself, but frames in a folder must be still pictures. Name videos one by one."
            )


def _check_frame(name: str, picture: Image.Image) -> None:
    """Refuse a frame that is too large before decoding it."""
    if picture.height * picture.width > MOST_OF_A_FRAME:
        size = in_pixels((picture.height, picture.width))
        raise Fault(f"{name} has frames of {size}; a frame may have at most {MOST_OF_A_FRAME:,} in all.")


def _check_length(name: str, frames: int, size: int) -> None:
    if frames > MOST_FRAMES or frames * size > MOST_PIXELS:
        raise Fault(
            f"{name} has {frames:,} frames; a video may have at most {MOST_FRAMES:,}, with {MOST_PIXELS:,} "
            "pixels in all."
        )


def _colours(name: str, frame: Image.Image) -> np.ndarray:
    return np.asarray(in_eight_bits(name, frame).convert("RGB"))
