"""A drawing as pen moves, and as the strokes that people see.

The pen is put down at the origin, and each move (dx, dy, pen) takes it to another point. `pen` is 1 if a stroke ends
there; the next move is then made in the air. The last move ends a stroke and the drawing.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from regard.base.faults import Fault
from regard.base.parsing import parse_json
from regard.data.lines import read_lines
from regard.data.strokes.archives import LARGEST, read_archive

DOWN, UP, DONE = range(3)  # after a move the pen continues, ends a stroke or, for networks, ends the drawing
Strokes = list[np.ndarray]  # points (point, 2); x grows to the right, y downwards
_POLYLINE = re.compile(r"<poly(?:line|gon)\b[^>]*?\bpoints\s*=\s*[\"']([^\"']*)[\"']", re.IGNORECASE)
_MOST_BYTES = 2**26  # in a user's file


class LabelledMoves(NamedTuple):
    """The moves (move, 3) of a drawing, and its class if the file gives it."""

    moves: np.ndarray
    label: str | None


def moves_of(strokes: Sequence[np.ndarray], unit: float = 1.0, finest: float = 0.0) -> np.ndarray:
    """Return the moves (move, 3) of some strokes, simplified, in whole units; the first point is the origin."""
    if finest:
        strokes = [simplify(stroke, finest) for stroke in strokes]
    points = np.rint(np.concatenate(strokes) / unit).astype(np.int64)
    ends = np.cumsum([len(stroke) for stroke in strokes]) - 1
    pens = np.zeros(len(points), np.int64)
    pens[ends] = 1
    moves = np.column_stack([np.diff(points, axis=0, prepend=points[:1]), pens])
    return tidy(moves)


def tidy(moves: np.ndarray) -> np.ndarray:
    """Return a drawing in the form that is learnt: no move to the beginning, and an end after the last."""
    tidied = moves.astype(np.int64)
    if len(tidied) > 1 and not tidied[0].any():  # the pen is there already
        tidied = tidied[1:]
    tidied[-1:, 2] = 1
    return tidied


def simplify(points: np.ndarray, finest: float) -> np.ndarray:
    """Return the points (point, 2) of a stroke that Ramer, Douglas and Peucker keep.

    These are its ends, and points farther than `finest` from the line between two kept ones.
    """
    is_kept = np.zeros(len(points), bool)
    is_kept[[0, -1]] = True
    spans = [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        distances = _distances(points[first + 1 : last], points[first], points[last])
        farthest = int(distances.argmax())
        if distances[farthest] > finest:
            middle = first + 1 + farthest
            is_kept[middle] = True
            spans += [(first, middle), (middle, last)]
    return points[is_kept]


def _distances(points: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the distance of each point from the line between two others."""
    direction, offsets = end - begin, points - begin
    length = direction @ direction
    shares = np.clip(offsets @ direction / length, 0, 1) if length else np.zeros(len(points))
    return np.hypot(*(offsets - shares[:, None] * direction).T)


def strokes_of(moves: np.ndarray) -> Strokes:
    """Return the strokes that moves (move, 3) draw, from the origin on."""
    points = np.concatenate([np.zeros((1, 2)), np.cumsum(moves[:, :2], axis=0, dtype=np.float64)])
    ends = np.flatnonzero(moves[:, 2] == UP) + 2  # a move's point is the one after it
    return [stroke for stroke in np.split(points, ends) if len(stroke)]


def read_drawings(path: Path, split: str, unit: float = 1.0, finest: float = 0.0) -> list[np.ndarray]:
    """Read the moves of all drawings in a file: part `split` of an .npz, polylines of an .svg, or JSON lines."""
    return [drawing.moves for drawing in read_labelled(path, split, unit, finest)]


def read_labelled(path: Path, split: str, unit: float = 1.0, finest: float = 0.0) -> list[LabelledMoves]:
    """Read drawings with the classes that JSON lines give."""
    if path.suffix.lower() != ".npz":
        return [LabelledMoves(moves_of(strokes, unit, finest), label) for strokes, label in _read_own(path)]
    archived = _read_archived(path, split)
    if finest:
        return [LabelledMoves(moves_of(strokes_of(moves), unit, finest), None) for moves in archived]
    return [LabelledMoves(tidy(np.rint(moves / (unit, unit, 1))), None) for moves in archived]


def read_strokes(path: Path) -> Strokes:
    """Read the strokes of the first drawing in a user's file."""
    return strokes_of(_read_archived(path, "test")[0]) if path.suffix.lower() == ".npz" else next(_read_own(path))[0]


def _read_archived(path: Path, split: str) -> list[np.ndarray]:
    """Return the drawings of one part of an archive, without empty ones."""
    drawings = [drawing for drawing in read_archive(path, split) if len(drawing)]
    if not drawings:
        raise Fault(f"{path} holds no drawing in its part '{split}'.")
    return drawings


def _read_own(path: Path) -> Iterator[tuple[Strokes, str | None]]:
    """Yield the drawings of an .svg, or of JSON lines: one each, or {"drawings": several} as `regard draw` writes."""
    if path.suffix.lower() == ".svg":
        yield _read_svg(path), None
        return
    count = 0
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        name = f"{path}, line {number}"
        value = parse_json(line.encode(), name, _MOST_BYTES)
        several = value.get("drawings") if isinstance(value, dict) else None
        for drawing in several if isinstance(several, list) else [value]:
            count += 1
            yield check_strokes(drawing, name), _label_of(drawing, name)
    if not count:
        raise Fault(f"{path} holds no drawing.")


def _label_of(drawing: Any, name: str) -> str | None:
    """Return the class of a drawing {"label": its class, "strokes": …}."""
    label = drawing.get("label") if isinstance(drawing, dict) else None
    if label is not None and not (isinstance(label, str) and label.strip()):
        raise Fault(f"{name}: the label of a drawing must be a text that is not empty.")
    return label


def check_strokes(drawing: Any, name: str) -> Strokes:
    """Check the untrusted strokes [[[x, y], …], …] or {"strokes": …} of a drawing; return arrays."""
    if isinstance(drawing, dict):
        drawing = drawing.get("strokes")
    expected = f"{name}: a drawing must be a list of strokes, each a list of points [x, y]"
    if not isinstance(drawing, list) or not all(isinstance(stroke, list) for stroke in drawing):
        raise Fault(f"{expected}.")
    strokes = [_points(stroke, expected) for stroke in drawing if stroke]
    if not strokes:
        raise Fault(f"{name}: the drawing is empty.")
    return strokes


def _points(stroke: list[Any], expected: str) -> np.ndarray:
    pairs = all(isinstance(point, list) and len(point) == 2 for point in stroke)
    if not pairs or not all(type(number) in (int, float) for point in stroke for number in point):
        raise Fault(f"{expected}.")
    points = np.array(stroke, dtype=np.float64)
    if not (np.abs(points) <= LARGEST).all():  # NaN fails this too
        raise Fault(f"{expected}; a coordinate must be a number of at most {LARGEST:,.0f}.")
    return points


def _read_svg(path: Path) -> Strokes:
    content = path.read_bytes()[: _MOST_BYTES + 1].decode("utf-8", "replace")
    strokes = []
    for points in _POLYLINE.findall(content):
        numbers = re.split(r"[\s,]+", points.strip())
        try:
            pairs = [[float(x), float(y)] for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
        except ValueError:
            raise Fault(f"{path} has a polyline whose points are not pairs of numbers.") from None
        strokes.append(pairs)
    if not strokes:
        raise Fault(f"{path} has no polyline; nothing else is read from an SVG.")
    return check_strokes(strokes, str(path))
