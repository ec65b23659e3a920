"""Attention over a picture as a sheet: a panel for each word or step, bright where it looked."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from regard.viewing.canvas import FAINT, INK, canvas, check_suffix, missing_glyphs, save_figure, show_title, show_token
from regard.viewing.overlay.record import Overlay
from regard.viewing.raster import grey
from regard.viewing.seen import Joining

if TYPE_CHECKING:
    from matplotlib.patches import Rectangle

_ACROSS = 6  # panels in a line
_PANEL = 1.7  # inches of the longer side
_FADED = 0.7  # how much of the picture is left where nobody looks
_COLOUR = (1.0, 0.62, 0.0)  # of what is looked at; orange over grey is told apart by any colour vision
_GROUND = 0.55  # how much of it is seen where the picture is black
_MOST = 0.8  # of that colour where a step looks most


def draw_overlay(
    overlay: Overlay, path: Path, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> set[str]:
    """Draw the picture once by itself and once for each step; gives the characters that no font here can draw.

    Where the steps are the cells of the picture, each panel lies where its cell lies, and the cell is outlined. The
    colour of each panel goes up to its own largest weight, which stands beside its name.
    """
    check_suffix(path)
    which, weights = overlay.one(layer, head, heads)
    texts = [overlay.title, *overlay.steps]
    with canvas(texts) as new_figure:
        height, width = overlay.picture.shape[:2]
        wide, high = (_PANEL * side / max(height, width) for side in (width, height))
        across = overlay.grid[1] if overlay.steps_are_cells else min(_ACROSS, len(overlay.steps) + 1)
        pictures = [blend(overlay.picture, own) for own in weights]
        names = [f"{show_token(name)} ({own.max():.2f})" for name, own in zip(overlay.steps, weights, strict=True)]
        if not overlay.steps_are_cells:
            pictures, names = [blend(overlay.picture, None), *pictures], ["", *names]
        down = -(-len(pictures) // across)
        figure = new_figure(figsize=(across * (wide + 0.2), down * (high + 0.4) + 0.6), layout="constrained")
        panels = list(figure.subplots(down, across, squeeze=False).flat)
        for axes, picture, name in zip(panels, pictures, names, strict=False):
            axes.imshow(picture, interpolation="nearest")
            axes.set_title(name, fontsize=9.5, color=INK, pad=4, parse_math=False)
        if overlay.steps_are_cells:
            for place, axes in enumerate(panels):
                axes.add_patch(_outline(overlay, place))
        for place, axes in enumerate(panels):
            axes.set(xticks=[], yticks=[], visible=place < len(pictures))
            for spine in axes.spines.values():
                spine.set(color=FAINT, linewidth=0.8)
        title = show_title(overlay.title, which)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, color=INK, parse_math=False)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _outline(overlay: Overlay, place: int) -> "Rectangle":
    """The border of a cell, in pixels of the picture."""
    from matplotlib.patches import Rectangle

    row, column = divmod(place, overlay.grid[1])
    high, wide = (side / cells for side, cells in zip(overlay.picture.shape[:2], overlay.grid, strict=True))
    corner = column * wide - 0.5, row * high - 0.5  # the first pixel has its middle at 0
    return Rectangle(corner, wide, high, facecolor="none", edgecolor="white", linewidth=1.0)


def blend(picture: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The picture in colours (height, width, 3), faded to grey and tinted where the weights (row, column) are large."""
    colours = np.clip(picture if picture.ndim == 3 else np.repeat(picture[:, :, None], 3, axis=2), 0, 1)
    if weights is None:
        return colours
    height, width = picture.shape[:2]
    share = stretch(weights, height, width)[:, :, None] / (weights.max() or 1.0) * _MOST
    brightness = grey(picture)[:, :, None]
    tinted = np.array(_COLOUR) * (_GROUND + (1 - _GROUND) * brightness)
    return np.clip((1 - share) * _FADED * brightness + share * tinted, 0, 1)


def stretch(weights: np.ndarray, height: int, width: int) -> np.ndarray:
    """Weights of cells (row, column) as pixels (height, width), going over smoothly from one cell to the next."""
    rows, columns = weights.shape
    return _between(rows, height) @ weights @ _between(columns, width).T


def _between(cells: int, pixels: int) -> np.ndarray:
    """How much each pixel has of each cell (pixel, cell): straight lines from the middle of one to that of the next."""
    middles = (np.arange(cells) + 0.5) * pixels / cells
    return np.stack([np.interp(np.arange(pixels) + 0.5, middles, one) for one in np.eye(cells)], axis=1)
