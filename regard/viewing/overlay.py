"""Attention over the cells of a picture, drawn over the picture: of words, steps or cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.viewing.canvas import (
    FAINT,
    INK,
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
from regard.viewing.raster import grey, ink_rows, page_picture
from regard.viewing.seen import Block, Joining, block_named, joined_weights
from regard.viewing.sides import Cells
from regard.viewing.view import Drawing, DrawingRequest, HeadsDrawing
from regard.viewing.written import cell_len, fit_text

if TYPE_CHECKING:
    from matplotlib.patches import Rectangle

STYLES = ("page.css", "pictures.css")
SCRIPT = "overlay-page.js"
_ACROSS = 6  # panels in a line
_PANEL = 1.7  # inches of the longer side
_FADED = 0.7  # brightness of the picture where the weights are zero
_COLOUR = (1.0, 0.62, 0.0)  # tint of large weights; orange on grey is distinct for any colour vision
_GROUND = 0.55  # share of the tint where the picture is black
_MOST = 0.8  # share of the tint at the largest weight


@dataclass(frozen=True)
class Overlay:
    """A picture, grey or in colours from 0 to 1, under grid[0] rows of grid[1] cells, and the attention of each step.

    Blocks have weights (head, step, cell), cells row by row. The steps may be the cells themselves.
    """

    title: str
    picture: np.ndarray
    grid: tuple[int, int]
    steps: list[str]
    blocks: list[Block]
    steps_are_cells: bool = False

    def __post_init__(self) -> None:
        rows, columns = self.grid
        for block in self.blocks:
            if block.weights.shape[1:] != (len(self.steps), rows * columns):
                steps, shape = len(self.steps), block.weights.shape
                raise ValueError(f"weights of shape {shape} do not fit {steps} steps and {rows} × {columns} cells")

    def one(self, layer: int | None = None, head: int | None = None, heads: Joining = "mean") -> tuple[str, np.ndarray]:
        """Return a title and the weights (step, row, column) of one head, or of all heads joined."""
        which, weights = joined_weights(self.blocks, layer, head, heads)
        return which, weights.reshape(len(self.steps), *self.grid)


def to_json(overlay: Overlay) -> dict[str, Any]:
    """Return the overlay as plain values, with unrounded numbers."""
    return {
        "title": overlay.title,
        "picture": overlay.picture.tolist(),
        "grid": list(overlay.grid),
        "steps": list(overlay.steps),
        "steps_are_cells": overlay.steps_are_cells,
        "blocks": [block.to_json() for block in overlay.blocks],
    }


def from_json(value: Mapping[str, Any]) -> Overlay:
    """Return the overlay that `to_json` was given."""
    blocks = [Block.from_json(block) for block in value["blocks"]]
    rows, columns = value["grid"]
    picture, are_cells = np.array(value["picture"]), value.get("steps_are_cells", False)
    return Overlay(value["title"], picture, (rows, columns), value["steps"], blocks, are_cells)


def overlay_data(
    overlay: Overlay, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> dict[str, Any]:
    """Return the data of the view: weights as whole ten-thousandths, step by step."""
    return {
        "start": {"layer": block_named(overlay.blocks, layer, head), "head": head or heads},
        "title": show_word(overlay.title),
        "picture": page_picture(overlay.picture),
        "grid": list(overlay.grid),
        "steps": [show_word(step) for step in overlay.steps],
        "blocks": block_data(overlay.blocks, "this picture"),
    }


def draw_overlay(
    overlay: Overlay, path: Path, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> set[str]:
    """Draw the picture once by itself and once for each step; return the characters that no font here can draw.

    If the steps are the cells of the picture, each panel is at the place of its cell, and the cell is outlined. The
    colour scale of each panel ends at its own largest weight, which is shown next to its name.
    """
    check_suffix(path)
    which, weights = overlay.one(layer, head, heads)
    texts = [overlay.title, *overlay.steps]
    with canvas(texts) as new_figure:
        height, width = overlay.picture.shape[:2]
        wide, high = (_PANEL * side / max(height, width) for side in (width, height))
        across = overlay.grid[1] if overlay.steps_are_cells else min(_ACROSS, len(overlay.steps) + 1)
        pictures = [blend(overlay.picture, step_weights) for step_weights in weights]
        names = [
            f"{show_token(name)} ({step_weights.max():.2f})"
            for name, step_weights in zip(overlay.steps, weights, strict=True)
        ]
        if not overlay.steps_are_cells:
            pictures, names = [blend(overlay.picture, None), *pictures], ["", *names]
        down = -(-len(pictures) // across)
        whole = across * (wide + 0.2)
        title, points, title_high = wrapped_title(show_title(overlay.title, which), whole)
        figure = new_figure(figsize=(whole, down * (high + 0.4) + 0.4 + title_high), layout="constrained")
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
        figure.suptitle(title, x=0.01, ha="left", fontsize=points, color=INK, parse_math=False)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _outline(overlay: Overlay, place: int) -> "Rectangle":
    """Return the border of a cell, in pixels of the picture."""
    from matplotlib.patches import Rectangle

    row, column = divmod(place, overlay.grid[1])
    high, wide = (side / cells for side, cells in zip(overlay.picture.shape[:2], overlay.grid, strict=True))
    corner = column * wide - 0.5, row * high - 0.5  # the centre of the first pixel is at 0
    return Rectangle(corner, wide, high, facecolor="none", edgecolor="white", linewidth=1.0)


def blend(picture: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the picture (height, width, 3) faded to grey, and tinted where the weights (row, column) are large."""
    colours = np.clip(picture if picture.ndim == 3 else np.repeat(picture[:, :, None], 3, axis=2), 0, 1)
    if weights is None:
        return colours
    height, width = picture.shape[:2]
    share = stretch(weights, height, width)[:, :, None] / (weights.max() or 1.0) * _MOST
    brightness = grey(picture)[:, :, None]
    tinted = np.array(_COLOUR) * (_GROUND + (1 - _GROUND) * brightness)
    return np.clip((1 - share) * _FADED * brightness + share * tinted, 0, 1)


def stretch(weights: np.ndarray, height: int, width: int) -> np.ndarray:
    """Return the weights of cells (row, column) as pixels (height, width), with smooth transitions between cells."""
    rows, columns = weights.shape
    return _between(rows, height) @ weights @ _between(columns, width).T


def _between(cells: int, pixels: int) -> np.ndarray:
    """Return the share of each cell in each pixel (pixel, cell), linear between the centres of neighbouring cells."""
    middles = (np.arange(cells) + 0.5) * pixels / cells
    return np.stack([np.interp(np.arange(pixels) + 0.5, middles, one) for one in np.eye(cells)], axis=1)


def overlay_lines(
    overlay: Overlay, width: int, layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> list[str]:
    """Return the picture in shades, then a grid for each step, darkest at the largest weight."""
    which, weights = overlay.one(layer, head, heads)
    title = show_title(overlay.title, which)
    lines = [fit_text(title, width), *("".join(row) for row in ink_rows(overlay.picture, min(width, 64)))]
    cells = min(max(2 * overlay.grid[1], 8), width)
    fit = max(1, (width + 2) // (cells + 2))
    for first in range(0, len(overlay.steps), fit):
        steps = range(first, min(first + fit, len(overlay.steps)))
        names = [fit_text(show_word(overlay.steps[step]), cells) for step in steps]
        grids = [ink_rows(weights[step] / (weights[step].max() or 1.0), cells) for step in steps]
        lines += ["", "  ".join(name + " " * (cells - cell_len(name)) for name in names).rstrip()]
        for rows in zip(*grids, strict=True):
            lines.append("  ".join(f"{''.join(row):{cells}}" for row in rows))
    return lines


class OverlayDrawing(HeadsDrawing):
    """A picture, with the attention of each step drawn over it."""

    view = "overlay"
    script, styles = SCRIPT, STYLES
    picture, terminal = staticmethod(draw_overlay), staticmethod(overlay_lines)
    to_json, to_data = staticmethod(to_json), staticmethod(overlay_data)


def from_looks(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Return the drawing of the attention of words or steps to a picture."""
    assert isinstance(looks.looks_at, Cells)
    assert looks.looks_at.grid is not None
    names, of_row = places_along(looks.looks_from, looks.looks_at, by_word=not wanted.tokens)
    blocks = [Block(block.where, word_means(of_row) @ block.weights) for block in looks.blocks]
    record = Overlay(looks.title, looks.looks_at.picture, looks.looks_at.grid, names, blocks)
    return OverlayDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")


def from_looks_of_cells(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Return the drawing of the attention of cells to steps or words: for each of these, the weights of all cells."""
    assert isinstance(looks.looks_from, Cells)
    assert looks.looks_from.grid is not None
    names, of_column = places_along(looks.looks_at, looks.looks_from, by_word=True)
    joined = (word_means(of_column) > 0).astype(float)  # summed over the tokens of a word
    blocks = [Block(block.where, joined @ block.weights.transpose(0, 2, 1)) for block in looks.blocks]
    record = Overlay(looks.title, looks.looks_from.picture, looks.looks_from.grid, names, blocks)
    return OverlayDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")


def from_looks_among_cells(looks: LooksBetween, wanted: DrawingRequest) -> Drawing:
    """Return the drawing of the attention of cells to their own picture: a panel for each, by row and column."""
    assert isinstance(looks.looks_at, Cells)
    assert looks.looks_at.grid is not None
    rows, columns = looks.looks_at.grid
    names = [f"{row + 1}, {column + 1}" for row in range(rows) for column in range(columns)]
    blocks = list(looks.blocks)
    if looks.looks_at.looked_back_at:  # the first place is not a cell, and no cell attends to the last
        blocks = [Block(block.where, _without_first(block.weights)) for block in blocks]
    record = Overlay(looks.title, looks.looks_at.picture, (rows, columns), names, blocks, steps_are_cells=True)
    return OverlayDrawing(record, wanted.layer, wanted.head, wanted.heads or "mean")


def _without_first(weights: np.ndarray) -> np.ndarray:
    """Shift weights (head, row, column) by one column, so that they start at the first cell."""
    return np.concatenate([weights[..., 1:], np.zeros_like(weights[..., :1])], axis=-1)
