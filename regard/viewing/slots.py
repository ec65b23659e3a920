"""The slots of a memory: where heads read and write, step by step."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.base.faults import Fault
from regard.base.figures import quantity
from regard.base.files import write_file
from regard.viewing.canvas import (
    FAINT,
    FONT,
    INK,
    SOFT,
    canvas,
    check_suffix,
    missing_glyphs,
    noted_lines,
    save_figure,
    show_word,
)
from regard.viewing.looks import LooksBetween
from regard.viewing.page import refuse_many_weights
from regard.viewing.raster import page_picture
from regard.viewing.sealed import SealedPage, whole_steps
from regard.viewing.sides import Slots, Steps
from regard.viewing.view import Drawing, DrawingRequest
from regard.viewing.written import DOT, fit_text, legend_of_shades, shade_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from PIL.Image import Image

TOUCHED = 0.05  # the weight from which a slot counts as used
FEWEST_SHOWN = 8  # slots
STYLES = ("page.css", "slots.css")
SCRIPT = "slots-page.js"
_WIDE, _HIGH = 0.16, 0.1  # inches of a step, and of a slot or a channel
_LONGEST, _TALLEST = 14.0, 4.0  # maximum inches of all steps, and of the slots of a head
_MOST_NUMBERED = 8  # maximum labels of slots or steps
_LETTERS = 11  # letters of a title per inch
_ORANGE, _BLUE, _DIM, _PLAIN = "\x1b[33m", "\x1b[34m", "\x1b[2m", "\x1b[0m"
_NUMBER = 5  # cells for the number of a slot
_MARGIN, _GAP, _LABEL = 12, 10, 16  # pixels around everything, between strips, and for the name of each
_LARGEST_STEP, _WIDEST = 16, 900  # maximum pixels of a step, and of all steps
_SLOT = 6  # pixels of a slot
_PACE, _REST = 110, 2500  # milliseconds of a step, and of the last one
_READ, _WRITE, _BITS = (31, 95, 168), (209, 98, 43), (34, 34, 34)
_PAPER, _NOW = 250, 222  # grey of empty cells, and of the current step
_NARROWEST, _LETTER = 260, 8  # minimum pixels of a sheet, and pixels of a letter in its title


@dataclass(frozen=True)
class MemoryUse:
    """The weights (head, step, slot) of each head; `given` and `answered` are the inputs and answers of each step."""

    title: str
    steps: list[str]
    heads: list[str]
    weights: np.ndarray
    given: np.ndarray | None = None
    answered: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.weights.ndim != 3 or self.weights.shape[:2] != (len(self.heads), len(self.steps)):
            sizes = f"{len(self.heads)} heads and {len(self.steps)} steps"
            raise ValueError(f"weights of shape {self.weights.shape} do not fit {sizes}")

    @property
    def slots(self) -> list[int]:
        """The slots to show: the shortest run that contains all used slots, or a few more if there are few.

        The first slot follows the last, as in a neural Turing machine.
        """
        count = self.weights.shape[2]
        used = np.flatnonzero(self.weights.max(axis=(0, 1), initial=0.0) >= TOUCHED)
        if not used.size:
            used = np.arange(1)
        gaps = np.diff(used, append=used[0] + count)
        widest = used.size - 1 - int(gaps[::-1].argmax())  # of equal gaps the last, so that a full memory begins at 0
        first = int(used[(widest + 1) % used.size])
        length = max(count - int(gaps[widest]) + 1, min(FEWEST_SHOWN, count))
        return [(first + place) % count for place in range(length)]

    def of_head(self, head: int | None) -> "MemoryUse":
        """Return the use by one head, counted from 1, or by all heads for None."""
        if head is None:
            return self
        if head > len(self.heads):
            raise Fault(f"This model has {quantity(len(self.heads), 'head')}: {', '.join(self.heads)}.")
        only = slice(head - 1, head)
        return MemoryUse(self.title, self.steps, self.heads[only], self.weights[only], self.given, self.answered)


def is_writer(head: str) -> bool:
    """Return True if a head writes, by its name."""
    return head.startswith("write")


def to_json(use: MemoryUse) -> dict[str, Any]:
    """Return the memory's use as plain values, with unrounded numbers."""
    numbers = {"given": use.given, "answered": use.answered}
    return {
        "title": use.title,
        "steps": list(use.steps),
        "heads": list(use.heads),
        "weights": use.weights.tolist(),
        **{name: None if values is None else values.tolist() for name, values in numbers.items()},
    }


def from_json(value: Mapping[str, Any]) -> MemoryUse:
    """Return the use that `to_json` was given."""
    given, answered = (None if value[name] is None else np.array(value[name]) for name in ("given", "answered"))
    return MemoryUse(value["title"], value["steps"], value["heads"], np.array(value["weights"]), given, answered)


def memory_data(use: MemoryUse) -> dict[str, Any]:
    """Return the data of the view: the weights of the shown slots, slot by slot."""
    slots = use.slots
    weights = use.weights[:, :, slots]
    refuse_many_weights([weights], "these steps", "give fewer steps, or draw them as a .png")
    strips = {"given": use.given, "answered": use.answered}
    return {
        "title": show_word(use.title),
        "steps": [show_word(step) for step in use.steps],
        "slots": slots,
        # Empty inputs and answers are white on a page, so that others stand out.
        "strips": {name: page_picture(1 - abs(numbers.T)) for name, numbers in strips.items() if numbers is not None},
        "heads": [
            {"name": head, "writes": is_writer(head), "weights": whole_steps(head_weights.T)}
            for head, head_weights in zip(use.heads, weights, strict=True)
        ],
    }


def draw_memory_use(use: MemoryUse, path: Path) -> set[str]:
    """Draw the steps; return the characters that no font here can draw."""
    check_suffix(path)
    texts = [use.title, *use.heads]
    slots = use.slots
    both = {"given": use.given, "answered": use.answered}
    strips = [(name, numbers) for name, numbers in both.items() if numbers is not None]
    heights = [max(numbers.shape[1] * _HIGH, 0.3) for _, numbers in strips]
    heights += [min(max(len(slots) * _HIGH, 0.5), _TALLEST)] * len(use.heads)
    with canvas(texts) as new_figure:
        width = min(max(len(use.steps) * _WIDE, 3.5), _LONGEST)
        figure = new_figure(figsize=(width + 1.0, sum(heights) + 0.22 * len(heights) + 0.8), layout="constrained")
        panels = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (name, numbers) in zip(panels, strips, strict=False):
            _draw_strip(axes, name, numbers)
        for axes, head, weights in zip(panels[len(strips) :], use.heads, use.weights, strict=True):
            _draw_head(axes, head, weights[:, slots], slots)
        numbered = range(0, len(use.steps), max(1, -(-len(use.steps) // _MOST_NUMBERED)))
        panels[-1].set_xticks(list(numbered), [str(step + 1) for step in numbered])
        panels[-1].set_xlabel("step", fontsize=9, color=SOFT)
        figure.suptitle(
            fit_text(show_word(use.title), int(_LETTERS * (width + 1))),
            x=0.01,
            ha="left",
            fontsize=10.5,
            color=INK,
            parse_math=False,
        )
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_strip(axes: "Axes", name: str, numbers: np.ndarray) -> None:
    """Draw the numbers of each step, a row for each channel."""
    lowest = min(0.0, float(numbers.min(initial=0.0)))
    axes.imshow(numbers.T, cmap="Greys", vmin=lowest, vmax=1, aspect="auto", interpolation="nearest")
    axes.set_yticks([])
    _dress(axes, name)


def _draw_head(axes: "Axes", head: str, weights: np.ndarray, slots: list[int]) -> None:
    """Draw the weights (step, slot) of one head, the first slot on top."""
    colours = "Oranges" if is_writer(head) else "Blues"
    axes.imshow(weights.T, cmap=colours, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    places = range(0, len(slots), max(1, -(-len(slots) // _MOST_NUMBERED)))
    axes.set_yticks(list(places), [str(slots[place]) for place in places])
    _dress(axes, f"{head}\nslot")


def _dress(axes: "Axes", name: str) -> None:
    axes.set_ylabel(name, fontsize=9, color=INK, rotation=0, ha="right", va="center")
    axes.tick_params(length=2, width=0.6, color=FAINT, labelsize=8, labelcolor=INK)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)


def memory_lines(use: MemoryUse, width: int, colour: bool) -> list[str]:
    """Return the slots of each head below its name; steps that do not fit follow below the others."""
    lines = [fit_text(show_word(use.title), width)]
    room = max(width - _NUMBER - 1, 1)
    for first in range(0, len(use.steps), room):
        steps = range(first, min(first + room, len(use.steps)))
        for head, weights in zip(use.heads, use.weights, strict=True):
            lines += ["", fit_text(f"{head}, steps {steps.start + 1} to {steps.stop}, slot by slot", width)]
            ink = _ORANGE if is_writer(head) else _BLUE
            for slot in use.slots:
                cells = [_cell(weights[step, slot], ink if colour else "") for step in steps]
                lines.append(f"{slot:>{_NUMBER}} {''.join(cells)}")
    return [*lines, legend_of_shades(_NUMBER + 1, width)]


def _cell(weight: float, ink: str) -> str:
    shade = shade_of(weight)
    if not ink:
        return shade
    return f"{_DIM if shade == DOT else ink}{shade}{_PLAIN}"


def animate_memory_use(use: MemoryUse, path: Path) -> None:
    """Write a GIF that plays in a loop."""
    first, *others = _frames(use)
    file = io.BytesIO()
    pace = [_PACE] * len(others) + [_REST]
    first.save(file, "GIF", save_all=True, append_images=others, duration=pace, loop=0, optimize=True)
    write_file(path, file.getvalue())


def _frames(use: MemoryUse) -> "list[Image]":
    """Return a picture for each step, without the later steps."""
    from PIL import Image

    wide = max(2, min(_LARGEST_STEP, _WIDEST // len(use.steps)))
    strips = _strips(use)
    blank, tops = _sheet(use, strips, wide * len(use.steps))
    frames = []
    for count in range(1, len(use.steps) + 1):
        frame = blank.copy()
        for top, colours in zip(tops, strips.values(), strict=True):
            visible = np.full_like(colours, _PAPER)
            visible[:, :count] = colours[:, :count]
            visible[:, count - 1] = np.minimum(visible[:, count - 1], _NOW)
            frame.paste(Image.fromarray(visible.repeat(wide, axis=1).repeat(_SLOT, axis=0)), (_MARGIN, top))
        frames.append(frame.quantize(64))
    return frames


def _strips(use: MemoryUse) -> dict[str, np.ndarray]:
    """Return rows of colours (row, step, 3): inputs and answers by channel, and each head by slot."""
    numbers = {"given": use.given, "answered": use.answered}
    strips = {name: _tint(np.abs(values.T), _BITS) for name, values in numbers.items() if values is not None}
    heads = {
        name: _tint(weights[:, use.slots].T, _WRITE if is_writer(name) else _READ)
        for name, weights in zip(use.heads, use.weights, strict=True)
    }
    return strips | heads


def _sheet(use: MemoryUse, strips: dict[str, np.ndarray], width: int) -> "tuple[Image, list[int]]":
    """Return a sheet with the title and the names of all strips, and the top of each strip."""
    from matplotlib.font_manager import findfont
    from PIL import Image, ImageDraw, ImageFont

    across = max(width, _NARROWEST) + 2 * _MARGIN
    notes = noted_lines(across // _LETTER)
    height = sum(_LABEL + len(colours) * _SLOT + _GAP for colours in strips.values()) + 2 * _MARGIN + _LABEL
    sheet = Image.new("RGB", (across, height + len(notes) * _LABEL), (255, 255, 255))
    pen, font, top = ImageDraw.Draw(sheet), ImageFont.truetype(findfont(FONT), 11), _MARGIN
    for note in notes:
        pen.text((_MARGIN, top), note, INK, font=font)
        top += _LABEL
    pen.text((_MARGIN, top), fit_text(show_word(use.title), sheet.width // _LETTER), INK, font=font)
    tops = []
    top += _LABEL + _GAP
    for name, colours in strips.items():
        pen.text((_MARGIN, top), name, INK, font=font)
        tops.append(top + _LABEL)
        top += _LABEL + len(colours) * _SLOT + _GAP
    return sheet, tops


def _tint(weights: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    """Return weights (row, step) as colours, from the paper's to this one."""
    share = np.clip(weights, 0, 1)[:, :, None]
    return np.rint((1 - share) * _PAPER + share * np.array(colour)).astype(np.uint8)


@dataclass(frozen=True)
class SlotsDrawing:
    """The use of a memory as a drawing."""

    record: MemoryUse

    view: ClassVar[str] = "slots"

    def draw(self, path: Path) -> set[str]:
        return draw_memory_use(self.record, path)

    def animate(self, path: Path) -> None:
        animate_memory_use(self.record, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return memory_lines(self.record, width, colour)

    def numbers(self) -> dict[str, Any]:
        return to_json(self.record)

    def data(self) -> dict[str, Any]:
        return memory_data(self.record)

    def page(self) -> SealedPage:
        return SealedPage(SCRIPT, STYLES, self.data())


def from_looks(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Return the drawing of where heads read and wrote in a memory."""
    assert isinstance(looks.looks_from, Steps)
    assert isinstance(looks.looks_at, Slots)
    (block,) = looks.blocks
    steps, heads = looks.looks_from, list(looks.looks_at.heads)
    use = MemoryUse(looks.title, list(steps.names), heads, block.weights, steps.given, steps.answered)
    return SlotsDrawing(use.of_head(wanted.head))
