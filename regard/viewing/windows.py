"""A path of glimpses over a picture: squares around one place at each step, and what was seen in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from regard.base.files import write_file
from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_word
from regard.viewing.drawings import DrawnCanvas, WritingWindow, sheet_gif
from regard.viewing.looks import LooksBetween
from regard.viewing.raster import grey, ink_rows, page_picture
from regard.viewing.sealed import SealedPage
from regard.viewing.sides import Cells, Steps
from regard.viewing.view import Drawing, DrawingRequest
from regard.viewing.written import cell_len, fit_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLES = ("page.css", "pictures.css")
SCRIPT = "windows-page.js"
_ACROSS = 8  # glimpses in one line of patches
_SIDE = 3.6  # inches of the picture
_PATCH, _GAP = 0.62, 0.16  # inches of a patch, and between two of them
_NUMBER = 0.22  # inches for the number above a patch
_MANY = 16  # number of steps above which squares are thin and without numbers, so that they do not hide the picture
_BRIGHT, _PLAIN = "\x1b[1;33m", "\x1b[0m"
_LINE = 0.4  # width of a window's border, in pixels of the picture


@dataclass(frozen=True)
class GlimpsePath:
    """A picture, grey or in colours from 0 to 1, and the squares through which the model looked step by step.

    `centres` (step, 2) are across and down in pixels from the upper left corner, `extents` (step, scale) the sides of
    the squares in pixels. A model sees each square at the resolution of the smallest one.
    """

    title: str
    picture: np.ndarray
    steps: list[str]
    centres: np.ndarray
    extents: np.ndarray

    def __post_init__(self) -> None:
        if len(self.steps) != len(self.centres) or len(self.steps) != len(self.extents) or not self.extents.size:
            raise ValueError(
                f"{len(self.steps)} steps do not fit {len(self.centres)} centres and {len(self.extents)} extents"
            )

    @property
    def sharpness(self) -> int:
        """Side of every seen square in pixels."""
        return max(1, round(float(self.extents.min())))

    def squares(self, step: int) -> list[tuple[float, float, float]]:
        """Return the left and upper edge and the side of each square of a step, the smallest first."""
        across, down = self.centres[step].tolist()
        return [(across - side / 2, down - side / 2, side) for side in sorted(self.extents[step].tolist())]

    def patches(self, step: int) -> list[np.ndarray]:
        """Return the squares of a step, averaged down to one size; outside the picture they are black."""
        return [_patch(self.picture, left, top, side, self.sharpness) for left, top, side in self.squares(step)]


def _patch(picture: np.ndarray, left: float, top: float, side: float, pixels: int) -> np.ndarray:
    """Return a square of a picture as pixels × pixels means; a window between pixels takes the nearest ones."""
    finer = max(1, round(side / pixels))  # samples per pixel, across and down
    offsets = (np.arange(pixels * finer) + 0.5) * side / (pixels * finer)
    columns, rows = (np.floor(start + offsets).astype(int) for start in (left, top))
    height, width = picture.shape[:2]
    samples = picture[np.clip(rows, 0, height - 1)][:, np.clip(columns, 0, width - 1)].astype(float)
    samples[(rows < 0) | (rows >= height)] = 0
    samples[:, (columns < 0) | (columns >= width)] = 0
    return samples.reshape(pixels, finer, pixels, finer, *picture.shape[2:]).mean(axis=(1, 3))


def to_json(path: GlimpsePath) -> dict[str, Any]:
    """Return the path as plain values, with unrounded numbers."""
    return {
        "title": path.title,
        "picture": path.picture.tolist(),
        "steps": list(path.steps),
        "centres": path.centres.tolist(),
        "extents": path.extents.tolist(),
    }


def from_json(value: Mapping[str, Any]) -> GlimpsePath:
    """Return the path that `to_json` was given."""
    picture, centres, extents = (np.array(value[name]) for name in ("picture", "centres", "extents"))
    return GlimpsePath(value["title"], picture, value["steps"], centres, extents)


def glimpse_data(path: GlimpsePath) -> dict[str, Any]:
    """Return the data of the view: pictures as bytes, squares by their left and upper edge and their side."""
    return {
        "title": show_word(path.title),
        "picture": page_picture(path.picture),
        "steps": [
            {
                "name": show_word(name),
                "centre": path.centres[step].tolist(),
                "squares": [list(square) for square in path.squares(step)],
                "patches": [page_picture(patch) for patch in path.patches(step)],
            }
            for step, name in enumerate(path.steps)
        ],
    }


def draw_glimpses(path: GlimpsePath, file: Path) -> set[str]:
    """Draw the picture with all squares and the patches next to it; return the characters no font here can draw."""
    check_suffix(file)
    texts = [path.title, *path.steps]
    with canvas(texts) as new_figure:
        figure = new_figure(figsize=(1, 1))  # places are in inches; saving crops to the drawing
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
    """Return left, right, top and bottom of everything shown: the picture, and small squares that reach beyond it."""
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
    """Draw a picture in its own pixels, with edges on whole numbers, on a background that no picture has."""
    height, width = picture.shape[:2]
    grey: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 1} if picture.ndim == 2 else {}
    axes.imshow(np.clip(picture, 0, 1), extent=(0, width, height, 0), interpolation="nearest", **grey)
    axes.set_facecolor("#d9dde2")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)


def _step_colours(count: int) -> np.ndarray:
    """Return a colour for each step, from purple to yellow, in an order visible to any colour vision."""
    from matplotlib import colormaps

    return np.asarray(colormaps["plasma"](np.linspace(0.38, 0.95, count) if count > 1 else [0.6]))


def _draw_path(axes: "Axes", path: GlimpsePath) -> None:
    """Draw squares in the colour of their step with a dark rim, and numbered places joined by a line."""
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
    """Draw the patches of one step below each other, in frames of its colour."""
    colour = _step_colours(len(path.steps))[step]
    for scale, patch in enumerate(path.patches(step)):
        top = corner[1] - scale * (_PATCH + _GAP)
        axes = figure.add_axes((corner[0], top - _PATCH, _PATCH, _PATCH))
        _show(axes, patch)
        for spine in axes.spines.values():
            spine.set(color=colour, linewidth=2)
        if scale == 0:
            axes.set_title(show_word(path.steps[step]), fontsize=8.5, color=INK, pad=4, parse_math=False)


def glimpse_lines(path: GlimpsePath, width: int, colour: bool) -> list[str]:
    """Return the picture in shades with numbered steps, a line for each step, and the patches side by side."""
    rows = ink_rows(path.picture, width)
    scale = np.array([len(rows[0]) / path.picture.shape[1], len(rows) / path.picture.shape[0]])
    for step in reversed(range(len(path.steps))):  # of two at one place, the earlier is visible
        across, down = np.clip((path.centres[step] * scale).astype(int), 0, [len(rows[0]) - 1, len(rows) - 1])
        number = f"{step + 1:<2}"
        rows[down][across] = f"{_BRIGHT}{number}{_PLAIN}" if colour else number
    lines = [fit_text(show_word(path.title), width), *("".join(row) for row in rows)]
    for step, name in enumerate(path.steps):
        across, down = path.centres[step].round(1).tolist()
        sides = ", ".join(f"{side:g}" for side in sorted(path.extents[step].round(1).tolist()))
        lines.append(
            fit_text(f"{show_word(name)}: at {across:g} across, {down:g} down; sides of {sides} pixels", width)
        )
    return [*lines, "", *_patch_lines(path, width)]


def _patch_lines(path: GlimpsePath, width: int) -> list[str]:
    """Return lines of text with the patches of as many steps side by side as fit."""
    cells = min(2 * path.sharpness, width)
    fit = max(1, (width + 2) // (cells + 2))
    lines = []
    for first in range(0, len(path.steps), fit):
        steps = range(first, min(first + fit, len(path.steps)))
        names = [fit_text(show_word(path.steps[step]), cells) for step in steps]
        lines.append("  ".join(name + " " * (cells - cell_len(name)) for name in names).rstrip())
        for patches in zip(*(path.patches(step) for step in steps), strict=True):
            pictures = [["".join(row) for row in ink_rows(patch, cells)] for patch in patches]
            lines += ["  ".join(row) for row in zip(*pictures, strict=True)]
            lines.append("")
    return lines[:-1]


def animate_glimpses(path: GlimpsePath, file: Path) -> None:
    """Write a GIF of the picture with the smallest window of each step."""
    picture = grey(path.picture)
    squares = [path.squares(step)[0] for step in range(len(path.steps))]
    windows = [WritingWindow(left + side / 2, top + side / 2, side, _LINE) for left, top, side in squares]
    frames = DrawnCanvas(np.repeat(picture[None], len(windows), axis=0), windows).frames()
    write_file(file, sheet_gif([frames]))


@dataclass(frozen=True)
class WindowsDrawing:
    """A path of glimpses as a drawing."""

    record: GlimpsePath

    view: ClassVar[str] = "windows"

    def draw(self, path: Path) -> set[str]:
        return draw_glimpses(self.record, path)

    def animate(self, path: Path) -> None:
        animate_glimpses(self.record, path)

    def lines(self, width: int, colour: bool) -> list[str]:
        return glimpse_lines(self.record, width, colour)

    def numbers(self) -> dict[str, Any]:
        return to_json(self.record)

    def data(self) -> dict[str, Any]:
        return glimpse_data(self.record)

    def page(self) -> SealedPage:
        return SealedPage(SCRIPT, STYLES, self.data())


def from_looks(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Return the drawing of glimpses through windows."""
    assert isinstance(looks.looks_from, Steps)
    assert isinstance(looks.looks_at, Cells)
    assert looks.windows is not None
    return WindowsDrawing(
        GlimpsePath(looks.title, looks.looks_at.picture, list(looks.looks_from.names), *looks.windows)
    )
