"""Names beside points, none of which covers another; what finds no room is left out."""

from collections.abc import Sequence

import numpy as np

_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))  # right, left, above, below, corners


def place_labels(points: np.ndarray, sizes: np.ndarray, gap: float, bounds: Sequence[float]) -> list[tuple | None]:
    """The lower left corner of the label of each point, or None: those that come first choose first.

    `points` and `sizes` are (point, 2), in one unit; `bounds` are left, bottom, right and top. A label is placed beside
    its point where it covers no label, no point, and does not leave the bounds.
    """
    left, bottom, right, top = bounds
    boxes = np.empty((0, 4))  # of the labels so far: left, bottom, right, top
    found: list[tuple | None] = []
    for number, (point, size) in enumerate(zip(points, sizes, strict=True)):
        others = np.delete(points, number, axis=0)
        for across, up in _SIDES:
            corner = point + np.array([_start(across, size[0], gap), _start(up, size[1], gap)])
            box = np.array([*corner, *(corner + size)])
            inside = left <= box[0] and bottom <= box[1] and box[2] <= right and box[3] <= top
            if inside and not _meets(boxes, box) and not _covers(box, others):
                boxes = np.vstack([boxes, box])
                found.append((float(corner[0]), float(corner[1])))
                break
        else:
            found.append(None)
    return found


def _start(side: int, length: float, gap: float) -> float:
    """Where a label begins along one axis, from its point: after it, before it, or around it."""
    return {1: gap, -1: -gap - length, 0: -length / 2}[side]


def _meets(boxes: np.ndarray, box: np.ndarray) -> bool:
    return bool(((boxes[:, :2] < box[2:]) & (box[:2] < boxes[:, 2:])).all(axis=1).any())


def _covers(box: np.ndarray, points: np.ndarray) -> bool:
    return bool(((box[:2] < points) & (points < box[2:])).all(axis=1).any())
