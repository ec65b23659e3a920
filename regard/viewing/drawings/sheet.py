"""Drawings side by side on one sheet: a PNG of what they became, or a GIF of how they came to be."""

import io
import math
from collections.abc import Sequence

import numpy as np
from PIL import Image

from regard.base.pauses import between_steps

_GAP = 6  # pixels between two drawings, and around all of them
_PAPER = (214, 217, 222)
_LONGEST = 4.0  # seconds of an animation before its last picture
_PACE, _REST = 110, 2500  # milliseconds of a frame at most, and of the last one


def in_rows(pictures: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
    """Pictures in as many rows as make a sheet about square."""
    across = math.ceil(math.sqrt(len(pictures)))
    return [list(pictures[first : first + across]) for first in range(0, len(pictures), across)]


def spread(frames: Sequence[np.ndarray], count: int) -> list[np.ndarray]:
    """So many frames from the first to the last, evenly apart; all of them where there are fewer."""
    places = np.linspace(0, len(frames) - 1, min(count, len(frames))).round().astype(int)
    return [frames[place] for place in places]


def sheet_png(rows: Sequence[Sequence[np.ndarray]]) -> bytes:
    """The content of a .png with these rows of pictures (height, width, 3), all of one size."""
    file = io.BytesIO()
    _sheet(rows).save(file, "PNG", optimize=True)
    return file.getvalue()


def sheet_gif(drawings: Sequence[Sequence[np.ndarray]]) -> bytes:
    """The content of a .gif in which all drawings come to be at once; one with fewer frames waits for the others."""
    steps = max(map(len, drawings))
    sheets = [_sheet(in_rows([frames[min(step, len(frames) - 1)] for frames in drawings])) for step in range(steps)]
    first, *others = [sheet.quantize(128, Image.Quantize.FASTOCTREE) for sheet in sheets]
    pace = max(20, min(_PACE, round(1000 * _LONGEST / steps)) // 10 * 10)  # a GIF counts hundredths of a second
    file = io.BytesIO()
    durations = [pace] * len(others) + [_REST]
    first.save(file, "GIF", save_all=True, append_images=others, duration=durations, loop=0, optimize=True)
    return file.getvalue()


def _sheet(rows: Sequence[Sequence[np.ndarray]]) -> Image.Image:
    between_steps()
    height, width = rows[0][0].shape[:2]
    across = max(map(len, rows))
    sheet = Image.new("RGB", (across * (width + _GAP) + _GAP, len(rows) * (height + _GAP) + _GAP), _PAPER)
    for row, pictures in enumerate(rows):
        for column, picture in enumerate(pictures):
            sheet.paste(Image.fromarray(picture), (_GAP + column * (width + _GAP), _GAP + row * (height + _GAP)))
    return sheet
