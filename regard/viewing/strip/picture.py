"""Attention over a video as a sheet: the strip of its frames, and once more for each word, clear where it looked."""

from pathlib import Path

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
)
from regard.viewing.seen import Joining
from regard.viewing.strip.record import Strip

_WIDE = 10.5  # inches of all frames
_TALLEST = 0.9  # inches of a frame
_GAP = 0.06  # between two frames, as a share of one
_LEAST = 0.06  # how much of a frame is seen that nobody looks at
_COLOUR = (0.9, 0.5, 0.0)  # of the bar beneath each frame
_BAR = 0.14  # how high the bar of the largest weight is, as a share of a frame


def draw_strip(
    strip: Strip, path: Path, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> set[str]:
    """Draw the frames once by themselves and once for each word; gives the characters that no font here can draw.

    Frames fade to white the less a word looks at them, next to the one that it looks at most, whose weight stands at
    the end of the line. Bars beneath them have one scale for all words.
    """
    check_suffix(path)
    which, weights = strip.one(layer, head, heads)
    texts = [strip.title, *strip.words]
    with canvas(texts) as new_figure:
        from matplotlib.patches import Rectangle

        count, high, wide, _ = strip.frames.shape
        across = min(_WIDE / count, _TALLEST * wide / high)
        line = across * high / wide + across * (_BAR + _GAP)
        lines = len(strip.words) + 1
        figure = new_figure(figsize=(count * across * (1 + _GAP) + 1.7, lines * line + 0.7), layout="constrained")
        axes = figure.subplots()
        tall = high / wide  # of a frame that is 1 wide
        step = tall + _BAR + 2 * _GAP
        for row in range(lines):
            own = None if row == 0 else weights[row - 1]
            top = row * step
            for place, frame in enumerate(strip.frames):
                left = place * (1 + _GAP)
                share = 1.0 if own is None else float(own[place] / (own.max() or 1.0))
                axes.imshow(
                    fade(frame, share),
                    extent=(left, left + 1, top + tall, top),
                    interpolation="nearest",
                )
                # Where frames are as white as the paper, it would not be seen where one ends.
                edge = Rectangle((left, top), 1, tall, fill=False, edgecolor=FAINT, linewidth=0.6)
                axes.add_patch(edge)
                if own is not None:
                    axes.bar(
                        left, _BAR * own[place], bottom=top + tall + _GAP / 2, width=1, align="edge", color=_COLOUR
                    )
        ticks = [row * step + tall / 2 for row in range(lines)]
        axes.set_yticks(ticks, ["", *map(show_token, strip.words)])
        axes.set_xticks(
            [place * (1 + _GAP) + 0.5 for place in range(count)], [str(place + 1) for place in range(count)]
        )
        axes.xaxis.tick_top()
        axes.tick_params(length=0, labelsize=8, labelcolor=SOFT)
        for label in axes.get_yticklabels():
            label.set(fontsize=11, color=INK, parse_math=False)
        for row, own in enumerate(weights, start=1):
            axes.text(count * (1 + _GAP), ticks[row], f"{own.max():.2f}", va="center", fontsize=8, color=SOFT)
        axes.set(xlim=(-_GAP, count * (1 + _GAP) + 0.4), ylim=(lines * step, -_GAP), aspect="equal")
        for spine in axes.spines.values():
            spine.set(visible=False, color=FAINT)
        title = show_title(strip.title, which)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK, parse_math=False)
        save_figure(figure, path)
    return missing_glyphs(texts)


def fade(frame: np.ndarray, share: float) -> np.ndarray:
    """A frame towards white; a share of 1 leaves it as it is."""
    kept = _LEAST + (1 - _LEAST) * share
    return np.clip(1 - kept * (1 - frame), 0, 1)
