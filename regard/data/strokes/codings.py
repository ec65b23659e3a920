"""Drawings as tokens: start, cells or movements, a separator between strokes, and the end (Ribeiro et al. 2020, 3.2).

Both codings lose a little of each point, and what is lost has a likelihood: a token stands for so many points of the
lattice of whole units, and each of them is as probable as the others. So

    log p(drawing) = Σ log p(token) − Σ log (points that the token stands for)

is a distribution over drawings, whose nats can stand beside those of a density. Positions are counted from where the
pen was put down, and lie within `bound` units of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

START, SEPARATOR, END = range(3)
FIRST = 3  # of the tokens that stand for points
_AT_ONCE = 256  # moves whose nearest movements are looked for at once: so many stay in a core's cache


@runtime_checkable
class TokenCoding(Protocol):
    """The moves (move, 3) of drawings to tokens and back.

    `points` (token) are how many points of the lattice each token stands for.
    """

    @property
    def tokens(self) -> int: ...
    @property
    def points(self) -> np.ndarray: ...
    def encode(self, drawings: Sequence[np.ndarray]) -> list[np.ndarray]: ...
    def decode(self, tokens: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class Grid:
    """A token for each cell of a square grid around the origin: where the pen is, whatever way it came."""

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
        found = []
        for moves in drawings:
            across, down = ((np.cumsum(moves[:, :2], axis=0) + self.bound) // self.side).T
            found.append(_with_separators(down * self.cells + across, moves[:, 2]))
        return found

    def decode(self, tokens: np.ndarray) -> np.ndarray:
        """The moves from middle to middle of the cells."""
        cells, pens = _without_separators(tokens)
        down, across = np.divmod(cells, self.cells)
        places = np.column_stack([across, down]) * self.side + self.side // 2 - self.bound
        return np.column_stack([np.diff(places, axis=0, prepend=np.zeros((1, 2), np.int64)), pens])


@dataclass(frozen=True)
class Dictionary:
    """A token for each of some movements (movement, 2), of whole units, that k-means found in the training data.

    A move is coded from where the movements before it have led and not from where the pen really was, so that errors
    do not add up. `counts` are the points of the lattice, within the bound, that are nearest to each movement.
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
        """All drawings at once, move by move: what a movement leaves over is added to the next move."""
        lengths = np.array([len(moves) for moves in drawings])
        found = np.zeros((len(drawings), lengths.max()), np.int64)
        left_over = np.zeros((len(drawings), 2), np.int64)
        for number in range(found.shape[1]):
            rows = np.flatnonzero(lengths > number)
            wanted = left_over[rows] + np.stack([drawings[row][number, :2] for row in rows.tolist()])
            found[rows, number] = _nearest(self.movements, wanted)
            left_over[rows] = wanted - self.movements[found[rows, number]]
        pairs = zip(found, drawings, strict=True)
        return [_with_separators(own[: len(moves)], moves[:, 2]) for own, moves in pairs]

    def decode(self, tokens: np.ndarray) -> np.ndarray:
        movements, pens = _without_separators(tokens)
        return np.column_stack([self.movements[movements], pens])


def _nearest(movements: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """The number of the movement nearest to each move (move, 2); of two that are as near, the first."""
    centres = movements.astype(np.float32)
    sizes, doubled = (centres**2).sum(axis=1), np.ascontiguousarray(2 * centres.T)
    parts = np.array_split(moves.astype(np.float32), 1 + len(moves) // _AT_ONCE)
    return np.concatenate([(sizes - part @ doubled).argmin(axis=1) for part in parts])


def learn_dictionary(moves: np.ndarray, count: int, bound: int, seed: int = 1, rounds: int = 20) -> Dictionary:
    """At most `count` movements by Lloyd's k-means over moves (move, 2), rounded to whole units.

    The first centres are drawn from the moves that differ, so that none is there twice.
    """
    different, often = np.unique(moves, axis=0, return_counts=True)
    chance = np.random.default_rng(seed)
    # By the root of how often it occurs: rare long moves need centres too.
    chosen = chance.choice(len(different), min(count, len(different)), replace=False, p=_shares(often**0.5))
    centres = different[chosen].astype(np.float64)
    for _ in range(rounds):
        own = _nearest(centres, different)
        weight = np.bincount(own, often, len(centres))
        sums = np.column_stack([np.bincount(own, often * different[:, axis], len(centres)) for axis in (0, 1)])
        kept = weight > 0
        moved = np.where(kept[:, None], sums / np.maximum(weight, 1)[:, None], centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    movements = np.unique(np.rint(centres).astype(np.int64), axis=0)
    return Dictionary(movements, _points_nearest(movements, bound), bound)


def _points_nearest(movements: np.ndarray, bound: int) -> np.ndarray:
    """Count the lattice points within the bound that are nearest to each movement: at least its own."""
    line = np.arange(-bound, bound + 1)
    found = np.zeros(len(movements), np.int64)
    for y in line:
        row = np.column_stack([line, np.full(len(line), y)])
        found += np.bincount(_nearest(movements, row), minlength=len(movements))
    return found


def _shares(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum()


def _with_separators(numbers: np.ndarray, pens: np.ndarray) -> np.ndarray:
    """The tokens of cells or movements, a separator behind each stroke but the last, and the end behind that."""
    return np.append(np.insert(FIRST + numbers, np.flatnonzero(pens[:-1]) + 1, SEPARATOR), END)


def _without_separators(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of what stands for points, and after each whether the stroke ends; what was cut ends too.

    A model may write separators that part nothing, or stop with none: they are passed over.
    """
    tokens = np.asarray(tokens)
    is_point = tokens >= FIRST
    ends = np.append(~is_point[1:], True)
    return tokens[is_point] - FIRST, ends[is_point].astype(np.int64)
