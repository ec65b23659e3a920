"""A map of words on a plane: as a picture, a page to pan and zoom, or numbers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.base.files import write_file
from regard.base.notebook import frame
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
from regard.viewing.saving import save_by
from regard.viewing.sealed import SealedPage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))  # right, left, above, below, corners
STYLES = ("page.css", "graph.css", "map.css")
SCRIPT = "map-page.js"
_REACH = 4.6  # inches from the middle to the border
_MARGIN = 0.5  # inches around the points, for their names
_SIZE, _CENTRE_SIZE = 7.5, 9.5  # points of a name, and of a requested word
_BOLDER = 1.18  # factor of the width of a bold name
_HEIGHT = 1.25 / 72  # inches of a line per point of font size
_GAP = 0.05  # inches between a point and its name


@dataclass(frozen=True)
class WordMap:
    """Words at places on a plane (word, 2), in the order in which their names are placed.

    `groups` gives for each word which of `centres` it is a neighbour of, or -1; `near` gives for each word its nearest
    others by their original vectors, as numbers with cosines.
    """

    title: str
    variance: float | None  # share kept by two principal components; None for t-SNE
    words: Sequence[str]
    places: np.ndarray
    centres: Sequence[str]
    groups: Sequence[int]
    near: Sequence[Sequence[tuple[int, float]]]

    def __repr__(self) -> str:
        return f"WordMap({self.title!r}, {len(self.words)} words by {self.method})"

    def _repr_html_(self) -> str:
        return frame(map_page(self).html, self.title)

    @property
    def method(self) -> str:
        """The method that placed the words."""
        if self.variance is None:
            return "t-SNE: neighbours are close together, distances between groups mean little"
        return f"two principal components, which keep {self.variance:.0%} of the variance"

    def fitted(self) -> np.ndarray:
        """Return the places with the centre at 0 and the farthest coordinate at 1, with one scale for both axes."""
        low, high = self.places.min(axis=0), self.places.max(axis=0)
        reach = float((high - low).max()) / 2
        return (self.places - (low + high) / 2) / (reach or 1.0)

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Save it in the format of the suffix: .png, .svg, .html or .json; refuse an existing file."""
        return save_by(self.write, Path(path), overwrite)

    def write(self, path: Path) -> set[str]:
        """Write a file in the format of its suffix; return the characters that no font here can draw."""
        match path.suffix.lower():
            case ".json":
                write_file(path, (json.dumps(to_json(self), ensure_ascii=False, indent=1) + "\n").encode())
            case ".html":
                map_page(self).write(path)
            case _:
                return draw_map(self, path)
        return set()


def to_json(record: WordMap) -> dict[str, Any]:
    """Return a map as plain values."""
    words = [
        {
            "word": word,
            "place": [round(float(value), 6) for value in place],
            "group": record.centres[group] if group >= 0 else None,
            "neighbours": [[record.words[other], round(cosine, 6)] for other, cosine in near],
        }
        for word, place, group, near in zip(record.words, record.places, record.groups, record.near, strict=True)
    ]
    return {"title": record.title, "method": record.method, "words": words}


def place_labels(points: np.ndarray, sizes: np.ndarray, gap: float, bounds: Sequence[float]) -> list[tuple | None]:
    """Return the lower left corner of each point's label, or None if there is no room; earlier points choose first.

    `points` and `sizes` are (point, 2), in one unit; `bounds` are left, bottom, right and top. A label is placed next
    to its point so that it covers no other label and no point, and stays within the bounds.
    """
    left, bottom, right, top = bounds
    boxes = np.empty((0, 4))  # labels so far: left, bottom, right, top
    corners: list[tuple | None] = []
    for number, (point, size) in enumerate(zip(points, sizes, strict=True)):
        others = np.delete(points, number, axis=0)
        for across, up in _SIDES:
            corner = point + np.array([_start(across, size[0], gap), _start(up, size[1], gap)])
            box = np.array([*corner, *(corner + size)])
            inside = left <= box[0] and bottom <= box[1] and box[2] <= right and box[3] <= top
            if inside and not _meets(boxes, box) and not _covers(box, others):
                boxes = np.vstack([boxes, box])
                corners.append((float(corner[0]), float(corner[1])))
                break
        else:
            corners.append(None)
    return corners


def _start(side: int, length: float, gap: float) -> float:
    """Return where a label begins along one axis, relative to its point: after it, before it, or around it."""
    return {1: gap, -1: -gap - length, 0: -length / 2}[side]


def _meets(boxes: np.ndarray, box: np.ndarray) -> bool:
    return bool(((boxes[:, :2] < box[2:]) & (box[:2] < boxes[:, 2:])).all(axis=1).any())


def _covers(box: np.ndarray, points: np.ndarray) -> bool:
    return bool(((box[:2] < points) & (points < box[2:])).all(axis=1).any())


def map_page(record: WordMap) -> SealedPage:
    """Return the page of a map."""
    return SealedPage(SCRIPT, STYLES, map_data(record))


def map_data(record: WordMap) -> dict[str, Any]:
    """Return the data of the view: places in a square from -1 to 1, neighbours by number with cosines."""
    return {
        "title": show_word(record.title),
        "variance": record.variance,
        "centres": [show_word(word) for word in record.centres],
        "words": [
            {
                "word": show_word(word),
                "place": place,
                "group": group,
                "near": [[other, round(cosine, 4)] for other, cosine in near],
            }
            for word, place, group, near in zip(
                record.words, record.fitted().round(4).tolist(), record.groups, record.near, strict=True
            )
        ],
    }


def draw_map(record: WordMap, path: Path) -> set[str]:
    """Draw a .png or .svg; return the characters that no font here can draw."""
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
    """Return left, bottom, right and top of the picture in inches; it is at least half as high as wide."""
    (left, bottom), (right, top) = points.min(axis=0) - _MARGIN, points.max(axis=0) + _MARGIN
    pad_vertical = max(0.0, _REACH - (top - bottom)) / 2
    pad_horizontal = max(0.0, _REACH - (right - left)) / 2
    return (
        float(left - pad_horizontal),
        float(bottom - pad_vertical),
        float(right + pad_horizontal),
        float(top + pad_vertical),
    )


def _write_names(axes: "Axes", record: WordMap, points: np.ndarray, bounds: tuple[float, float, float, float]) -> int:
    """Draw the points and their names; return the number of names without room."""
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
            corner[1] + 0.25 * letters[place] * _HEIGHT,  # baseline, with descenders below
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
    subtitle = " · ".join(filter(None, [record.method, omitted]))
    axes.annotate(
        subtitle, (0, 1), (0, 8), xycoords="axes fraction", textcoords="offset points", fontsize=8.5, color="#666666"
    )
