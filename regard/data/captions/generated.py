"""Generated pictures and videos of shapes with their captions, each determined by its split and number."""

from collections.abc import Iterator

import numpy as np

from regard.base.progress import Progress
from regard.data.captions.options import CaptionData
from regard.data.generated.moving_shapes import video_of
from regard.data.generated.shapes import picture_of


def generate(options: CaptionData, split: str, number: int) -> tuple[np.ndarray, list[str]]:
    """Return the pixels (side, side, 3) of a picture, or (frame, side, side, 3) of a video, and its captions."""
    assert options.shapes is not None
    key = [options.shapes.seed, list(options.parts).index(split), number]
    if options.frames is None:
        return picture_of(key, options.side)
    return video_of(key, options.frames, options.side, held_out=split != "train")


def generate_all(options: CaptionData, progress: Progress) -> tuple[np.ndarray, Iterator[list[str]]]:
    """Return the pixels (picture, place, 3) of all splits in order, and the captions of each picture."""
    keys = [(split, number) for split in options.parts for number in range(getattr(options.shapes, split))]
    pixels, captions = np.empty((len(keys), (options.frames or 1) * options.side**2, 3), np.uint8), []
    for row, (split, number) in enumerate(keys):
        progress(f"drawing {options.seen}", row, len(keys))
        colours, texts = generate(options, split, number)
        pixels[row] = colours.reshape(-1, 3)
        captions.append(texts)
    progress(f"drawing {options.seen}", len(keys), len(keys))
    return pixels, iter(captions)


def generate_named(options: CaptionData, name: str) -> np.ndarray | None:
    """Return the pixels of a generated picture by its name, such as test-3; None if there is no such picture."""
    split, _, number = name.partition("-")
    if split not in options.parts or not (number.isascii() and number.isdecimal() and len(number) < 8):
        return None
    return generate(options, split, int(number))[0] if int(number) < getattr(options.shapes, split) else None
