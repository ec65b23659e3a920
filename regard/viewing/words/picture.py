"""A map of words as a picture: a point for each word, and as many names as find room."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from regard.viewing.canvas import (
    FAINT,
    INK,
    PALETTE,
    canvas,
    check_suffix,
    missing_glyphs,
    save_figure,
    show_word,
    word_widths,
)
from regard.viewing.words.labels import place_labels
from regard.viewing.words.record import WordMap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REACH = 4.6  # inches from the middle to the border
_MARGIN = 0.5  # inches around the points, for their names
_SIZE, _CENTRE_SIZE = 7.5, 9.5  # points of a name, and of one that was asked for
_BOLDER = 1.18  # times as wide is a name in bold
_HEIGHT = 1.25 / 72  # inches of a line for each point of a letter
_GAP = 0.05  # inches between a point and its name


def draw_map(record: WordMap, path: Path) -> set[str]:
    """Draw a .png or .svg; gives the characters that no font here can draw."""
    check_suffix(path)
    texts = [record.title, record.method, *record.words]
    with canvas(texts) as new_figure:
        points = record.fitted() * _REACH
        bounds = _bounds(points)
        figure = new_figure(figsize=(bounds[2] - bounds[0], bounds[3] - bounds[1]))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(bounds[0], bounds[2]), ylim=(bounds[1], bounds[3]))
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_color(FAINT)
        unnamed = _write_names(axes, record, points, bounds)
        _write_title(axes, record, unnamed)
        save_figure(figure, path)
    return missing_glyphs(texts)


def _bounds(points: np.ndarray) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of the picture in inches; it is no lower than half its width."""
    (left, bottom), (right, top) = points.min(axis=0) - _MARGIN, points.max(axis=0) + _MARGIN
    lacking = max(0.0, _REACH - (top - bottom)) / 2
    beside = max(0.0, _REACH - (right - left)) / 2
    return float(left - beside), float(bottom - lacking), float(right + beside), float(top + lacking)


def _write_names(axes: "Axes", record: WordMap, points: np.ndarray, bounds: tuple[float, float, float, float]) -> int:
    """The points and their names; gives how many names found no room."""
    is_centre = [
        group >= 0 and record.centres[group] == word for word, group in zip(record.words, record.groups, strict=True)
    ]
    letters = np.where(is_centre, _CENTRE_SIZE, _SIZE)
    widths = np.array(word_widths(record.words, 1.0)) * letters * np.where(is_centre, _BOLDER, 1.0)
    corners = place_labels(points, np.stack([widths, letters * _HEIGHT], axis=1), _GAP, bounds)
    colours = [PALETTE[group % len(PALETTE)] if group >= 0 else INK for group in record.groups]
    axes.scatter(points[:, 0], points[:, 1], s=np.where(is_centre, 22, 8), c=colours, linewidths=0, zorder=2)
    for place, (word, corner) in enumerate(zip(record.words, corners, strict=True)):
        if corner is None:
            continue
        axes.text(
            corner[0],
            corner[1] + 0.25 * letters[place] * _HEIGHT,  # the letters stand on their line, tails below
            show_word(word),
            fontsize=float(letters[place]),
            fontweight="bold" if is_centre[place] else "normal",
            color=colours[place],
            va="baseline",
            ha="left",
            parse_math=False,
            zorder=3,
        )
    return corners.count(None)


def _write_title(axes: "Axes", record: WordMap, unnamed: int) -> None:
    omitted = f"{unnamed} of {len(record.words)} words have no room for their names" if unnamed else ""
    axes.set_title(show_word(record.title), fontsize=12, color=INK, loc="left", pad=22, parse_math=False)
    under = " · ".join(filter(None, [record.method, omitted]))
    axes.annotate(
        under, (0, 1), (0, 8), xycoords="axes fraction", textcoords="offset points", fontsize=8.5, color="#666666"
    )
