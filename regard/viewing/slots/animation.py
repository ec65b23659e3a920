"""The use of a memory as a short animation: its steps appear one after another, from left to right."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from regard.base.files import write_file
from regard.viewing.canvas import FONT, INK, show_word
from regard.viewing.slots.record import MemoryUse, is_writer
from regard.viewing.written import fit_text

if TYPE_CHECKING:
    from PIL.Image import Image

_MARGIN, _GAP, _LABEL = 12, 10, 16  # pixels around all, between strips, and for the name of each
_LARGEST_STEP, _WIDEST = 16, 900  # pixels of a step, and of all steps
_SLOT = 6  # pixels of a slot
_PACE, _REST = 110, 2500  # milliseconds of a step, and of the last one
_READ, _WRITE, _BITS = (31, 95, 168), (209, 98, 43), (34, 34, 34)
_PAPER, _NOW = 250, 222  # grey of what is empty, and of where the machine is
_NARROWEST, _LETTER = 260, 8  # pixels of a sheet, and of a letter of its title


def animate_memory_use(use: MemoryUse, path: Path) -> None:
    """Write a GIF that plays once and again."""
    first, *others = _frames(use)
    file = io.BytesIO()
    pace = [_PACE] * len(others) + [_REST]
    first.save(file, "GIF", save_all=True, append_images=others, duration=pace, loop=0, optimize=True)
    write_file(path, file.getvalue())


def _frames(use: MemoryUse) -> "list[Image]":
    """One picture for each step, with the steps after it left out."""
    from PIL import Image

    wide = max(2, min(_LARGEST_STEP, _WIDEST // len(use.steps)))
    strips = _strips(use)
    blank, tops = _sheet(use, strips, wide * len(use.steps))
    frames = []
    for shown in range(1, len(use.steps) + 1):
        frame = blank.copy()
        for top, colours in zip(tops, strips.values(), strict=True):
            seen = np.full_like(colours, _PAPER)
            seen[:, :shown] = colours[:, :shown]
            seen[:, shown - 1] = np.minimum(seen[:, shown - 1], _NOW)
            frame.paste(Image.fromarray(seen.repeat(wide, axis=1).repeat(_SLOT, axis=0)), (_MARGIN, top))
        frames.append(frame.quantize(64))
    return frames


def _strips(use: MemoryUse) -> dict[str, np.ndarray]:
    """Rows of colours (row, step, 3): what is given and answered by its channels, and each head by its slots."""
    numbers = {"given": use.given, "answered": use.answered}
    strips = {name: _tint(np.abs(each.T), _BITS) for name, each in numbers.items() if each is not None}
    heads = {
        name: _tint(own[:, use.slots].T, _WRITE if is_writer(name) else _READ)
        for name, own in zip(use.heads, use.weights, strict=True)
    }
    return strips | heads


def _sheet(use: MemoryUse, strips: dict[str, np.ndarray], width: int) -> "tuple[Image, list[int]]":
    """A sheet with the title and the names of all strips, and how far down each of them goes."""
    from matplotlib.font_manager import findfont
    from PIL import Image, ImageDraw, ImageFont

    height = sum(_LABEL + len(colours) * _SLOT + _GAP for colours in strips.values()) + 2 * _MARGIN + _LABEL
    sheet = Image.new("RGB", (max(width, _NARROWEST) + 2 * _MARGIN, height), (255, 255, 255))
    pen, font, top = ImageDraw.Draw(sheet), ImageFont.truetype(findfont(FONT), 11), _MARGIN
    pen.text((_MARGIN, top), fit_text(show_word(use.title), sheet.width // _LETTER), INK, font=font)
    tops = []
    top += _LABEL + _GAP
    for name, colours in strips.items():
        pen.text((_MARGIN, top), name, INK, font=font)
        tops.append(top + _LABEL)
        top += _LABEL + len(colours) * _SLOT + _GAP
    return sheet, tops


def _tint(weights: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    """Weights (row, step) as colours, from that of paper to this one."""
    share = np.clip(weights, 0, 1)[:, :, None]
    return np.rint((1 - share) * _PAPER + share * np.array(colour)).astype(np.uint8)
