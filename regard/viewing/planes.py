"""Vectors laid out on a plane: by principal components, and by t-SNE, which keeps neighbours together."""

from typing import NamedTuple

import numpy as np

from regard.base.faults import Fault
from regard.base.pauses import beside_pauses, between_steps
from regard.base.progress import Progress, silent

MOST_FOR_T_SNE = 2000  # exact t-SNE computes every pair in every step
_EXAGGERATION, _EXAGGERATED_STEPS = 12.0, 250
_MOMENTUM_BEFORE, _MOMENTUM_AFTER = 0.5, 0.8
_LEAST_GAIN = 0.01
_BISECTIONS = 60
_TINY = 1e-12


class Plane(NamedTuple):
    """A point (x, y) for each vector, and each axis's share of the variance."""

    points: np.ndarray
    shares: tuple[float, float]


def principal_plane(vectors: np.ndarray) -> Plane:
    """Return the first two principal components of the rows: for the centred X = U S Vᵀ, the first two columns of U S.

    The sign of an axis is arbitrary; here the farthest point has a positive coordinate. Equal vectors give one point.
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


def lay_out_neighbours(
    vectors: np.ndarray, perplexity: float = 30.0, steps: int = 750, progress: Progress = silent
) -> np.ndarray:
    """Return places (word, 2) by exact t-SNE (van der Maaten and Hinton 2008), for some hundreds of unit vectors.

    It starts from the principal components, so that the same vectors give the same map. The early exaggeration follows
    later practice, 12 for 250 steps, and the step size grows with the number of words (Belkina et al. 2019).
    """
    count = len(vectors)
    if count > MOST_FOR_T_SNE:
        raise Fault(
            f"t-SNE lays out at most {MOST_FOR_T_SNE:,} words, and these are {count:,}; give fewer, or use pca."
        )
    if count < 4:
        return principal_plane(vectors).points
    target = joint_probabilities(vectors, min(perplexity, (count - 1) / 3)).astype(np.float32)
    exaggerated = target * np.float32(_EXAGGERATION)
    places = principal_plane(vectors).points.astype(np.float32)
    places *= 1e-4 / (places[:, 0].std() or 1.0)
    rate = max(count / _EXAGGERATION / 4, 50.0)
    change, gains = np.zeros_like(places), np.ones_like(places)
    for step in range(steps):
        is_early = step < _EXAGGERATED_STEPS
        slope = t_sne_slope(exaggerated if is_early else target, places)
        gains = np.maximum(np.where(np.sign(slope) != np.sign(change), gains + 0.2, gains * 0.8), _LEAST_GAIN)
        change = (_MOMENTUM_BEFORE if is_early else _MOMENTUM_AFTER) * change - rate * gains * slope
        places = places + change
        places -= places.mean(axis=0)
        progress("laying out the map", step + 1, steps)
    return principal_plane(places).points  # rotated, so that it is wider than high


def joint_probabilities(vectors: np.ndarray, perplexity: float) -> np.ndarray:
    """Return the joint probabilities (word, word) of t-SNE, each row with the given perplexity.

    p(j|i) = exp(-β_i |x_i - x_j|²) / Σ_k≠i exp(-β_i |x_i - x_k|²),    p_ij = (p(j|i) + p(i|j)) / 2n    (eq 1)
    """
    conditional = neighbour_probabilities(_squared_distances(vectors.astype(np.float64)), perplexity)
    return (conditional + conditional.T) / (2 * len(vectors))


def neighbour_probabilities(distances: np.ndarray, perplexity: float) -> np.ndarray:
    """Return p(j|i) in row i, from squared distances; each β_i is bisected until 2^entropy is the perplexity."""
    others = ~np.eye(len(distances), dtype=bool)
    nearest = np.where(others, distances, np.inf).min(axis=1, keepdims=True)
    low, high = np.zeros((len(distances), 1)), np.full((len(distances), 1), np.inf)
    beta = np.ones((len(distances), 1))
    for _ in range(_BISECTIONS):
        between_steps()
        weights = np.exp(-beta * (distances - nearest)) * others
        rows = weights / weights.sum(axis=1, keepdims=True)
        entropy = -(rows * np.log2(np.maximum(rows, _TINY))).sum(axis=1, keepdims=True)
        is_wide = entropy > np.log2(perplexity)
        low, high = np.where(is_wide, beta, low), np.where(is_wide, high, beta)
        beta = np.where(np.isinf(high), beta * 2, (low + high) / 2)
    return rows


def t_sne_cost(target: np.ndarray, places: np.ndarray) -> float:
    """Return the divergence of the map's probabilities from the target ones: Σ p_ij ln(p_ij / q_ij)."""
    mapped, _ = _neighbours_on_map(places)
    pairs = target > 0
    return float((target[pairs] * np.log(target[pairs] / np.maximum(mapped[pairs], _TINY))).sum())


def t_sne_slope(target: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the gradient of the cost with respect to the places (word, 2).

    4 Σ_j (p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|²)        (eq 5)
    """
    mapped, kernel = _neighbours_on_map(places)
    pulls = np.subtract(target, mapped, out=mapped)
    pulls *= kernel
    return 4 * (pulls.sum(axis=1)[:, None] * places - pulls @ places)


def _neighbours_on_map(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return q_ij over all pairs, and the kernel 1 / (1 + |y_i - y_j|²), which it normalises (eq 4)."""
    kernel = _squared_distances(places)
    kernel += 1
    np.reciprocal(kernel, out=kernel)
    np.fill_diagonal(kernel, 0)
    return kernel / kernel.sum(), kernel


def _squared_distances(points: np.ndarray) -> np.ndarray:
    squares = (points**2).sum(axis=1)
    distances = (-2 * points) @ points.T
    distances += squares[:, None]
    distances += squares[None]
    return np.maximum(distances, 0, out=distances)
