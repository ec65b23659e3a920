"""A drawing as moves of a pen, and as the strokes that people see.

The pen is put down at the origin, and each move (dx, dy, pen) takes it to another point; pen is 1 where a stroke ends
there, and the move after that one is made in the air. The last move ends a stroke and the drawing.
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

DOWN, UP, DONE = range(3)  # behind a move the pen goes on, ends a stroke or, as networks read it, ends the drawing
Strokes = list[np.ndarray]  # of points (point, 2), to the right and down
_POLYLINE = re.compile(r"<poly(?:line|gon)\b[^>]*?\bpoints\s*=\s*[\"']([^\"']*)[\"']", re.IGNORECASE)
_MOST_BYTES = 2**26  # of a file that people bring


class LabelledMoves(NamedTuple):
    """The moves (move, 3) of a drawing, and its class where the file tells it."""

    moves: np.ndarray
    label: str | None


def moves_of(strokes: Sequence[np.ndarray], unit: float = 1.0, finest: float = 0.0) -> np.ndarray:
    """The moves (move, 3) of some strokes, simplified, in whole units; where it begins is the origin."""
    if finest:
        strokes = [simplify(stroke, finest) for stroke in strokes]
    points = np.rint(np.concatenate(strokes) / unit).astype(np.int64)
    ends = np.cumsum([len(stroke) for stroke in strokes]) - 1
    pens = np.zeros(len(points), np.int64)
    pens[ends] = 1
    moves = np.column_stack([np.diff(points, axis=0, prepend=points[:1]), pens])
    return tidy(moves)


def tidy(moves: np.ndarray) -> np.ndarray:
    """Bring a drawing into the form that is learnt: no move to the beginning, and an end after the last."""
    found = moves.astype(np.int64)
    if len(found) > 1 and not found[0].any():  # the pen is there already
        found = found[1:]
    found[-1:, 2] = 1
    return found


def simplify(points: np.ndarray, finest: float) -> np.ndarray:
    """The points (point, 2) of a stroke that Ramer, Douglas and Peucker keep: its ends, and what lies farther than
    `finest` from the line between two that are kept."""
    kept = np.zeros(len(points), bool)
    kept[[0, -1]] = True
    spans = [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        away = _distances(points[first + 1 : last], points[first], points[last])
        farthest = int(away.argmax())
        if away[farthest] > finest:
            middle = first + 1 + farthest
            kept[middle] = True
            spans += [(first, middle), (middle, last)]
    return points[kept]


def _distances(points: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the distance of each point from the line between two others."""
    way, offsets = end - begin, points - begin
    length = way @ way
    shares = np.clip(offsets @ way / length, 0, 1) if length else np.zeros(len(points))
    return np.hypot(*(offsets - shares[:, None] * way).T)


def strokes_of(moves: np.ndarray) -> Strokes:
    """The strokes that moves (move, 3) draw, from the origin on."""
    points = np.concatenate([np.zeros((1, 2)), np.cumsum(moves[:, :2], axis=0, dtype=np.float64)])
    ends = np.flatnonzero(moves[:, 2] == UP) + 2  # a move's point is the one behind it
    return [stroke for stroke in np.split(points, ends) if len(stroke)]


def read_drawings(path: Path, split: str, unit: float = 1.0, finest: float = 0.0) -> list[np.ndarray]:
    """The moves of all drawings in a file: of an .npz its part `split`, of an .svg its polylines, or lines of JSON."""
    return [each.moves for each in read_labelled(path, split, unit, finest)]


def read_labelled(path: Path, split: str, unit: float = 1.0, finest: float = 0.0) -> list[LabelledMoves]:
    """Read drawings with the classes that lines of JSON give."""
    if path.suffix.lower() != ".npz":
        return [LabelledMoves(moves_of(strokes, unit, finest), label) for strokes, label in _read_own(path)]
    archived = _read_archived(path, split)
    if finest:
        return [LabelledMoves(moves_of(strokes_of(each), unit, finest), None) for each in archived]
    return [LabelledMoves(tidy(np.rint(each / (unit, unit, 1))), None) for each in archived]


def read_strokes(path: Path) -> Strokes:
    """The strokes of the first drawing in a file that people bring."""
    return strokes_of(_read_archived(path, "test")[0]) if path.suffix.lower() == ".npz" else next(_read_own(path))[0]


def _read_archived(path: Path, split: str) -> list[np.ndarray]:
    """The drawings of one part of an archive, those without any move left out."""
    found = [each for each in read_archive(path, split) if len(each)]
    if not found:
        raise Fault(f"{path} holds no drawing in its part '{split}'.")
    return found


def _read_own(path: Path) -> Iterator[tuple[Strokes, str | None]]:
    """The drawings of an .svg, or of lines of JSON: one each, or {"drawings": several} as `regard draw` writes."""
    if path.suffix.lower() == ".svg":
        yield _read_svg(path), None
        return
    count = 0
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        name = f"{path}, line {number}"
        given = parse_json(line.encode(), name, _MOST_BYTES)
        several = given.get("drawings") if isinstance(given, dict) else None
        for drawing in several if isinstance(several, list) else [given]:
            count += 1
            yield check_strokes(drawing, name), _label_of(drawing, name)
    if not count:
        raise Fault(f"{path} holds no drawing.")


def _label_of(given: Any, name: str) -> str | None:
    """The class that a drawing {"label": its class, "strokes": …} tells."""
    label = given.get("label") if isinstance(given, dict) else None
    if label is not None and not (isinstance(label, str) and label.strip()):
        raise Fault(f"{name}: the label of a drawing is a text that is not empty.")
    return label


def check_strokes(given: Any, name: str) -> Strokes:
    """The strokes [[[x, y], …], …] or {"strokes": the same} of a drawing that need not be trusted, as arrays."""
    if isinstance(given, dict):
        given = given.get("strokes")
    expected = f"{name}: a drawing is a list of strokes, each a list of points [x, y]"
    if not isinstance(given, list) or not all(isinstance(stroke, list) for stroke in given):
        raise Fault(f"{expected}.")
    found = [_points(stroke, expected) for stroke in given if stroke]
    if not found:
        raise Fault(f"{name}: the drawing is empty.")
    return found


def _points(stroke: list[Any], expected: str) -> np.ndarray:
    pairs = all(isinstance(point, list) and len(point) == 2 for point in stroke)
    if not pairs or not all(type(number) in (int, float) for point in stroke for number in point):
        raise Fault(f"{expected}.")
    points = np.array(stroke, dtype=np.float64)
    if not (np.abs(points) <= LARGEST).all():  # neither is NaN
        raise Fault(f"{expected}; a coordinate must be a number of at most {LARGEST:,.0f}.")
    return points


def _read_svg(path: Path) -> Strokes:
    content = path.read_bytes()[: _MOST_BYTES + 1].decode("utf-8", "replace")
    found = []
    for points in _POLYLINE.findall(content):
        numbers = re.split(r"[\s,]+", points.strip())
        try:
            pairs = [[float(x), float(y)] for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
        except ValueError:
            raise Fault(f"{path} has a polyline whose points are not pairs of numbers.") from None
        found.append(pairs)
    if not found:
        raise Fault(f"{path} has no polyline; of an SVG only these are read.")
    return check_strokes(found, str(path))
