"""Pictures and videos of shapes that are generated, each by its split and its number, with what is said of them."""

from collections.abc import Iterator

import numpy as np

from regard.base.progress import Progress
from regard.data.captions.options import CaptionData
from regard.data.generated.moving_shapes import video_of
from regard.data.generated.shapes import picture_of


def generate(options: CaptionData, split: str, number: int) -> tuple[np.ndarray, list[str]]:
    """The pixels (side, side, 3) of a picture, or (frame, side, side, 3) of a video, and its captions."""
    assert options.shapes is not None
    key = [options.shapes.seed, list(options.parts).index(split), number]
    if options.frames is None:
        return picture_of(key, options.side)
    return video_of(key, options.frames, options.side, held_out=split != "train")


def generate_all(options: CaptionData, progress: Progress) -> tuple[np.ndarray, Iterator[list[str]]]:
    """The pixels (picture, place, 3) of all splits, one behind the other, and the captions of each picture."""
    wanted = [(split, number) for split in options.parts for number in range(getattr(options.shapes, split))]
    found, captions = np.empty((len(wanted), (options.frames or 1) * options.side**2, 3), np.uint8), []
    for row, (split, number) in enumerate(wanted):
        progress(f"drawing {options.seen}", row, len(wanted))
        colours, texts = generate(options, split, number)
        found[row] = colours.reshape(-1, 3)
        captions.append(texts)
    progress(f"drawing {options.seen}", len(wanted), len(wanted))
    return found, iter(captions)


def generate_named(options: CaptionData, name: str) -> np.ndarray | None:
    """The pixels of a generated picture by its name, such as test-3; nothing where no picture has it."""
    split, _, number = name.partition("-")
    if split not in options.parts or not (number.isascii() and number.isdecimal() and len(number) < 8):
        return None
    return generate(options, split, int(number))[0] if int(number) < getattr(options.shapes, split) else None
