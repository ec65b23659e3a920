"""Drawings as tokens: start, cells or movements, a separator between strokes, and the end (Ribeiro et al. 2020, 3.2).

Both codings lose a little of each point, and the loss has a likelihood: a token stands for several points of the
integer lattice, all equally probable. So

    log p(drawing) = Σ log p(token) − Σ log (points that the token stands for)

is a distribution over drawings, whose nats can be compared with those of a density. Positions are relative to where the
pen was first put down, and lie within `bound` units of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

START, SEPARATOR, END = range(3)
FIRST = 3  # first token that stands for points
_AT_ONCE = 256  # moves to look up at once; this many stay in a core's cache


@runtime_checkable
class TokenCoding(Protocol):
    """Converts the moves (move, 3) of drawings to tokens and back.

    `points` (token) is the number of lattice points that each token stands for.
    """

    @property
    def tokens(self) -> int: ...
    @property
    def points(self) -> np.ndarray: ...
    def encode(self, drawings: Sequence[np.ndarray]) -> list[np.ndarray]: ...
    def decode(self, tokens: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Grid:
    """A token for each cell of a square grid around the origin: the pen's position, however it got there."""

    cells: int  # on each side
    bound: int

    @property
    def side(self) -> int:
        """Number of lattice points on each side of a cell."""
        return -(-(2 * self.bound + 1) // self.cells)

    @property
    def tokens(self) -> int:
        return FIRST + self.cells**2

    @property
    def points(self) -> np.ndarray:
        return np.concatenate([np.ones(FIRST, np.int64), np.full(self.cells**2, self.side**2)])

    def encode(self, drawings: Sequence[np.ndarray]) -> list[np.ndarray]:
        encoded = []
        for moves in drawings:
            across, down = ((np.cumsum(moves[:, :2], axis=0) + self.bound) // self.side).T
            encoded.append(_with_separators(down * self.cells + across, moves[:, 2]))
        return encoded

    def decode(self, tokens: np.ndarray) -> np.ndarray:
        """Return the moves between the centres of the cells."""
        cells, pens = _without_separators(tokens)
        down, across = np.divmod(cells, self.cells)
        places = np.column_stack([across, down]) * self.side + self.side // 2 - self.bound
        return np.column_stack([np.diff(places, axis=0, prepend=np.zeros((1, 2), np.int64)), pens])


@dataclass(frozen=True)
class Dictionary:
    """A token for each of some integer movements (movement, 2), found by k-means in the training data.

    A move is coded from where the movements before it have led, not from the pen's true position, so that errors do not
    add up. `counts` are the lattice points, within the bound, nearest to each movement.
    """

    movements: np.ndarray
    counts: np.ndarray
    bound: int

    @property
    def tokens(self) -> int:
        return FIRST + len(self.movements)

    @property
    def points(self) -> np.ndarray:
        return np.concatenate([np.ones(FIRST, np.int64), self.counts])

    def encode(self, drawings: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Encode all drawings at once, move by move; the remainder of a move is added to the next."""
        lengths = np.array([len(moves) for moves in drawings])
        nearest = np.zeros((len(drawings), lengths.max()), np.int64)
        left_over = np.zeros((len(drawings), 2), np.int64)
        for number in range(nearest.shape[1]):
            rows = np.flatnonzero(lengths > number)
            targets = left_over[rows] + np.stack([drawings[row][number, :2] for row in rows.tolist()])
            nearest[rows, number] = _nearest(self.movements, targets)
            left_over[rows] = targets - self.movements[nearest[rows, number]]
        pairs = zip(nearest, drawings, strict=True)
        return [_with_separators(drawing_numbers[: len(moves)], moves[:, 2]) for drawing_numbers, moves in pairs]

    def decode(self, tokens: np.ndarray) -> np.ndarray:
        movements, pens = _without_separators(tokens)
        return np.column_stack([self.movements[movements], pens])


def _nearest(movements: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Return the number of the movement nearest to each move (move, 2); the first if two are equally near."""
    centres = movements.astype(np.float32)
    sizes, doubled = (centres**2).sum(axis=1), np.ascontiguousarray(2 * centres.T)
    parts = np.array_split(moves.astype(np.float32), 1 + len(moves) // _AT_ONCE)
    return np.concatenate([(sizes - part @ doubled).argmin(axis=1) for part in parts])


def learn_dictionary(moves: np.ndarray, count: int, bound: int, seed: int = 1, rounds: int = 20) -> Dictionary:
    """Find at most `count` movements by Lloyd's k-means over moves (move, 2), rounded to integers.

    The first centres are drawn from the distinct moves, so that none occurs twice.
    """
    different, counts = np.unique(moves, axis=0, return_counts=True)
    chance = np.random.default_rng(seed)
    # By the square root of their counts: rare long moves need centres too.
    chosen = chance.choice(len(different), min(count, len(different)), replace=False, p=_shares(counts**0.5))
    centres = different[chosen].astype(np.float64)
    for _ in range(rounds):
        cluster = _nearest(centres, different)
        weight = np.bincount(cluster, counts, len(centres))
        sums = np.column_stack([np.bincount(cluster, counts * different[:, axis], len(centres)) for axis in (0, 1)])
        is_used = weight > 0
        moved = np.where(is_used[:, None], sums / np.maximum(weight, 1)[:, None], centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    movements = np.unique(np.rint(centres).astype(np.int64), axis=0)
    return Dictionary(movements, _points_nearest(movements, bound), bound)


def _points_nearest(movements: np.ndarray, bound: int) -> np.ndarray:
    """Count the lattice points within the bound that are nearest to each movement: at least its own."""
    line = np.arange(-bound, bound + 1)
    totals = np.zeros(len(movements), np.int64)
    for y in line:
        row = np.column_stack([line, np.full(len(line), y)])
        totals += np.bincount(_nearest(movements, row), minlength=len(movements))
    return totals


def _shares(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum()


def _with_separators(numbers: np.ndarray, pens: np.ndarray) -> np.ndarray:
    """Return the tokens of cells or movements, with a separator after each stroke but the last, and the end."""
    return np.append(np.insert(FIRST + numbers, np.flatnonzero(pens[:-1]) + 1, SEPARATOR), END)


def _without_separators(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of cells or movements, and after each whether its stroke ends; truncated drawings end too.

    A model may write separators that separate nothing, or stop without one; both are ignored.
    """
    tokens = np.asarray(tokens)
    is_point = tokens >= FIRST
    ends = np.append(~is_point[1:], True)
    return tokens[is_point] - FIRST, ends[is_point].astype(np.int64)
