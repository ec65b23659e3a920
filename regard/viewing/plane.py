"""The plane in which vectors differ most."""

from typing import NamedTuple

import numpy as np

from regard.base.pauses import beside_pauses


class Plane(NamedTuple):
    """A point (x, y) for each vector, and which share of all their differences each axis has."""

    points: np.ndarray
    shares: tuple[float, float]


def principal_plane(vectors: np.ndarray) -> Plane:
    """The first two principal components of the rows: of the centred X = U S Vᵀ, the first two columns of U S.

    Either sign of an axis would do; here the point that lies farthest out has a positive one. Vectors that are all the
    same are one point.
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    left, sizes, _ = beside_pauses(lambda: np.linalg.svd(centred, full_matrices=False))
    count = min(2, len(sizes))
    points = np.zeros((len(vectors), 2))
    points[:, :count] = left[:, :count] * sizes[:count]
    farthest = np.abs(points).argmax(axis=0)
    points *= np.where(points[farthest, [0, 1]] < 0, -1.0, 1.0)
    total = float((sizes**2).sum())
    if total <= np.finfo(np.float32).eps ** 2 * float((vectors.astype(np.float64) ** 2).sum()):
        return Plane(np.zeros_like(points), (0.0, 0.0))
    first, second = [*(sizes[:count] ** 2 / total), 0.0][:2]
    return Plane(points, (float(first), float(second)))
