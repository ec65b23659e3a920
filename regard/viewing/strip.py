"""Attention over the frames of a video: a strip of frames for each word."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import (
    FAINT,
    INK,
    SOFT,
    canvas,
    check_suffix,
    missing_glyphs,
    save_figure,
    show_title,
    show_token,
    show_word,
    wrapped_title,
)
from regard.viewing.looks import LooksBetween, places_along, word_means
from regard.viewing.page import block_data
from regard.viewing.raster import ink_rows, page_picture
from regard.viewing.seen import Block, Joining, block_named, joined_weights
from regard.viewing.sides import Video
from regard.viewing.view import Drawing, DrawingRequest, HeadsDrawing
from regard.viewing.written import cell_len, fit_text, legend_of_shades, shade_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("page.css", "pictures.css")
SCRIPT = "strip-page.js"
_WIDE = 10.5  # inches of all frames
_TALLEST = 0.9  # inches of a frame
_GAP = 0.06  # between two frames, as a share of a frame
_LEAST = 0.06  # visibility of a frame with weight zero
_COLOUR = (0.9, 0.5, 0.0)  # of the bar below each frame
_BAR = 0.14  # height of the largest bar, as a share of a frame
_FEWEST_CELLS = 8  # fewest cells in which a frame is recognisable


@dataclass(frozen=True)
class Strip:
    """The frames of a video (frame, height, width, 3) from 0 to 1, and the attention of each word.

    Blocks have weights (head, word, frame).
    """

    title: str
    frames: np.ndarray
    words: list[str]
    blocks: list[Block]

    def __post_init__(self) -> None:
        for block in self.blocks:
            if block.weights.shape[1:] != (len(self.words), len(self.frames)):
                shape, words, frames = block.weights.shape, len(self.words), len(self.frames)
                raise ValueError(f"weights of shape {shape} do not fit {words} words and {frames} frames")

    def one(self, layer: int | None = None, head: int | None = None, heads: Joining = "mean") -> tuple[str, np.ndarray]:
        """Return a title and the weights (word, frame) of one head, or of all heads joined."""
        return joined_weights(self.blocks, layer, head, heads)


def to_json(strip: Strip) -> dict[str, Any]:
    """Return the strip as plain values, with unrounded numbers."""
    return {
        "title": strip.title,
        "frames": strip.frames.tolist(),
        "words": list(strip.words),
        "blocks": [block.to_json() for block in strip.blocks],
    }


def from_json(value: Mapping[str, Any]) -> Strip:
    """Return the strip that `to_json` was given."""
    blocks = [Block.from_json(block) for block in value["blocks"]]
    return Strip(value["title"], np.array(value["frames"]), value["words"], blocks)


def strip_data(
    strip: Strip, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> dict[str, Any]:
    """Return the data of the view: the frames side by side, weights as whole ten-thousandths."""
    return {
        "start": {"layer": block_named(strip.blocks, layer, head), "head": head or heads},
        "title": show_word(strip.title),
        "count": len(strip.frames),
        "picture": page_picture(np.concatenate(list(strip.frames), axis=1)),
        "words": [show_word(word) for word in strip.words],
        "blocks": block_data(strip.blocks, "this video"),
    }


def draw_strip(
    strip: Strip, path: Path, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> set[str]:
    """Draw the frames once by themselves and once for each word; return the characters that no font here can draw.

    Frames fade to white for smaller weights, relative to the word's largest weight, which is shown at the end of the
    line. The bars below them have one scale for all words.
    """
    check_suffix(path)
    which, weights = strip.one(layer, head, heads)
    texts = [strip.title, *strip.words]
    with canvas(texts) as new_figure:
        count, high, wide, _ = strip.frames.shape
        across = min(_WIDE / count, _TALLEST * wide / high)
        line = across * high / wide + across * (_BAR + _GAP)
        lines = len(strip.words) + 1
        whole = count * across * (1 + _GAP) + 1.7
        title, points, title_high = wrapped_title(show_title(strip.title, which), whole)
        figure = new_figure(figsize=(whole, lines * line + 0.5 + title_high), layout="constrained")
        axes = figure.subplots()
        tall = high / wide  # for a frame of width 1
        step = tall + _BAR + 2 * _GAP
        for row in range(lines):
            row_weights = None if row == 0 else weights[row - 1]
            top = row * step
            for place, frame in enumerate(strip.frames):
                share = 1.0 if row_weights is None else float(row_weights[place] / (row_weights.max() or 1.0))
                bar = None if row_weights is None else float(row_weights[place])
                _draw_frame(axes, fade(frame, share), place * (1 + _GAP), top, bar)
        ticks = [row * step + tall / 2 for row in range(lines)]
        axes.set_yticks(ticks, ["", *map(show_token, strip.words)])
        axes.set_xticks(
            [place * (1 + _GAP) + 0.5 for place in range(count)], [str(place + 1) for place in range(count)]
        )
        axes.xaxis.tick_top()
        axes.tick_params(length=0, labelsize=8, labelcolor=SOFT)
        for label in axes.get_yticklabels():
            label.set(fontsize=11, color=INK, parse_math=False)
        for row, row_weights in enumerate(weights, start=1):
            axes.text(count * (1 + _GAP), ticks[row], f"{row_weights.max():.2f}", va="center", fontsize=8, color=SOFT)
        axes.set(xlim=(-_GAP, count * (1 + _GAP) + 0.4), ylim=(lines * step, -_GAP), aspect="equal")
        for spine in axes.spines.values():
            spine.set(visible=False, color=FAINT)
        figure.suptitle(title, x=0.01, ha="left", fontsize=points, color=INK, parse_math=False)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _draw_frame(axes: "Axes", frame: np.ndarray, left: float, top: float, bar: float | None) -> None:
    """Draw a frame of width 1 with its upper left corner at (left, top) and, if it has a weight, a bar under it."""
    from matplotlib.patches import Rectangle

    tall = frame.shape[0] / frame.shape[1]
    axes.imshow(frame, extent=(left, left + 1, top + tall, top), interpolation="nearest")
    # Without an outline, the edge of a white frame would be invisible.
    axes.add_patch(Rectangle((left, top), 1, tall, fill=False, edgecolor=FAINT, linewidth=0.6))
    if bar is not None:
        axes.bar(left, _BAR * bar, bottom=top + tall + _GAP / 2, width=1, align="edge", color=_COLOUR)


def fade(frame: np.ndarray, share: float) -> np.ndarray:
    """Fade a frame towards white; a share of 1 leaves it unchanged."""
    visible = _LEAST + (1 - _LEAST) * share
    return np.clip(1 - visible * (1 - frame), 0, 1)


def strip_lines(
    strip: Strip, width: int, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> list[str]:
    """Return the frames in shades, if there is room, their numbers, and for each word a shade below each frame."""
    which, weights = strip.one(layer, head, heads)
    title = show_title(strip.title, which)
    names = [show_word(word) for word in strip.words]
    margin = min(max(map(cell_len, names)), max(width // 4, 4))
    cells = max(1, (width - margin - 1) // len(strip.frames) - 1)  # per frame, with one more between two
    lines = [fit_text(title, width)]
    if cells >= _FEWEST_CELLS:
        for rows in zip(*(ink_rows(frame, cells) for frame in strip.frames), strict=True):
            lines.append(_beside(margin, ("".join(row).ljust(cells) for row in rows)))
    numbers = (str(number)[-cells:].ljust(cells) for number in range(1, len(strip.frames) + 1))
    lines.append(fit_text(_beside(margin, numbers), width))
    for name, row_weights in zip(names, weights, strict=True):
        name = fit_text(name, margin)
        ink = " ".join(shade_of(float(weight)) * cells for weight in row_weights)
        lines.append(fit_text(f"{' ' * (margin - cell_len(name))}{name} {ink}", width))
    return [*lines, legend_of_shades(margin + 1, width)]


def _beside(margin: int, frames: Iterable[str]) -> str:
    return f"{'':{margin}} {' '.join(frames)}".rstrip()


class StripDrawing(HeadsDrawing):
    """A strip of frames for each word."""

    view = "strip"
    script, styles = SCRIPT, STYLES
    picture, terminal = staticmethod(draw_strip), staticmethod(strip_lines)
    to_json, to_data = staticmethod(to_json), staticmethod(strip_data)


def from_looks(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Return the drawing of the attention of words to a video."""
    assert isinstance(looks.looks_at, Video)
    names, of_row = places_along(looks.looks_from, looks.looks_at, by_word=not wanted.tokens)
    blocks = [Block(block.where, word_means(of_row) @ block.weights) for block in looks.blocks]
    record = Strip(looks.title, looks.looks_at.frames, names, blocks)
    return StripDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")
