"""A path of glimpses as a picture: the squares on what was looked at, and beside it what was seen in them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_word
from regard.viewing.windows.record import GlimpsePath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ACROSS = 8  # glimpses in one line of what was seen
_SIDE = 3.6  # inches of the picture
_PATCH, _GAP = 0.62, 0.16  # inches of what was seen in one square, and between two of them
_NUMBER = 0.22  # inches for the number above
_MANY = 16  # steps: with more the squares are drawn thinner and without numbers, which would hide the picture


def draw_glimpses(path: GlimpsePath, file: Path) -> set[str]:
    """Draw the picture with the squares of all steps, and beside it what each saw; gives what no font here can draw."""
    check_suffix(file)
    texts = [path.title, *path.steps]
    with canvas(texts) as new_figure:
        figure = new_figure(figsize=(1, 1))  # places are in inches; what is saved is cut to what is drawn
        left, right, top, bottom = _extent(path)
        scale = _SIDE / max(right - left, bottom - top)
        wide, high = (right - left) * scale, (bottom - top) * scale
        axes = figure.add_axes((0, -high, wide, high))
        _show(axes, path.picture)
        axes.set(xlim=(left, right), ylim=(bottom, top))
        _draw_path(axes, path)
        for line, first in enumerate(range(0, len(path.steps), _ACROSS)):
            steps = range(first, min(first + _ACROSS, len(path.steps)))
            line_height = path.extents.shape[1] * (_PATCH + _GAP) + _NUMBER
            for place, step in enumerate(steps):
                corner = (wide + 0.4 + place * (_PATCH + _GAP), -line * line_height - _NUMBER)
                _draw_patches(figure, path, step, corner)
        figure.text(0, 0.16, show_word(path.title), fontsize=12, color=INK, va="bottom", parse_math=False)
        save_figure(figure, file)
    return missing_glyphs(texts)


def _extent(path: GlimpsePath) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of all that is shown: the picture, and the smallest squares that reach beyond it."""
    height, width = path.picture.shape[:2]
    squares = [path.squares(step)[0] for step in range(len(path.steps))]
    lefts, tops, sides = np.array(squares).T
    return (
        min(0.0, float(lefts.min())),
        max(float(width), float((lefts + sides).max())),
        min(0.0, float(tops.min())),
        max(float(height), float((tops + sides).max())),
    )


def _show(axes: "Axes", picture: np.ndarray) -> None:
    """A picture in its own pixels, whose edges lie on whole numbers; around it a ground that no picture has."""
    height, width = picture.shape[:2]
    grey: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 1} if picture.ndim == 2 else {}
    axes.imshow(np.clip(picture, 0, 1), extent=(0, width, height, 0), interpolation="nearest", **grey)
    axes.set_facecolor("#d9dde2")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)


def _step_colours(count: int) -> np.ndarray:
    """From the first step to the last, from purple to yellow, in even steps that any colour vision orders."""
    from matplotlib import colormaps

    return np.asarray(colormaps["plasma"](np.linspace(0.38, 0.95, count) if count > 1 else [0.6]))


def _draw_path(axes: "Axes", path: GlimpsePath) -> None:
    """Squares in the colour of their step with a dark rim, and numbered places joined by a line."""
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import Normal, Stroke

    rim = [Stroke(linewidth=3.2, foreground="black", alpha=0.55), Normal()]
    colours, are_many = _step_colours(len(path.steps)), len(path.steps) > _MANY
    for step, colour in enumerate(colours):
        for scale, (left, top, side) in enumerate(path.squares(step)):
            square = Rectangle((left, top), side, side, fill=False, edgecolor=colour)
            if scale == 0:
                square.set(linewidth=0.9 if are_many else 1.8, path_effects=[] if are_many else rim, clip_on=False)
            else:
                square.set(linewidth=0.8, linestyle=(0, (4, 2)), alpha=0.6)
            square.set_gid(f"window-{step + 1}-{scale + 1}")  # its name in an SVG
            axes.add_patch(square)
    axes.plot(
        *path.centres.T, color="white", linewidth=0.6 if are_many else 1.4, path_effects=rim, clip_on=False, zorder=4
    )
    if are_many:
        axes.scatter(
            path.centres[:, 0],
            path.centres[:, 1],
            s=12,
            c=colours,
            edgecolors="black",
            linewidths=0.5,
            clip_on=False,
            zorder=5,
        )
        return
    for step, (colour, (across, down)) in enumerate(zip(colours, path.centres.tolist(), strict=True)):
        axes.plot(across, down, "o", markersize=11, color=colour, markeredgecolor="black", clip_on=False, zorder=5)
        ink = "white" if np.dot(colour[:3], [0.299, 0.587, 0.114]) < 0.5 else "black"
        axes.text(across, down, str(step + 1), ha="center", va="center_baseline", fontsize=7.5, color=ink, zorder=6)


def _draw_patches(figure: Any, path: GlimpsePath, step: int, corner: tuple[float, float]) -> None:
    """What was seen at one step, a patch under the other, in frames of its colour."""
    colour = _step_colours(len(path.steps))[step]
    for scale, patch in enumerate(path.patches(step)):
        top = corner[1] - scale * (_PATCH + _GAP)
        axes = figure.add_axes((corner[0], top - _PATCH, _PATCH, _PATCH))
        _show(axes, patch)
        for spine in axes.spines.values():
            spine.set(color=colour, linewidth=2)
        if scale == 0:
            axes.set_title(show_word(path.steps[step]), fontsize=8.5, color=INK, pad=4, parse_math=False)
