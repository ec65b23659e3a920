"""Drawings as tokens: there and back, with the likelihood of the points that a token stands for."""

import numpy as np
import pytest

from regard.data.strokes.codings import END, FIRST, SEPARATOR, Dictionary, Grid, learn_dictionary
from regard.data.strokes.drawings import moves_of, strokes_of

LINES = np.array([[2, 0, 1], [-1, -1, 0], [0, 2, 0], [0, 1, 1]])


def places(moves: np.ndarray) -> np.ndarray:
    return np.cumsum(moves[:, :2], axis=0)


def test_a_grid_of_single_points_loses_nothing() -> None:
    grid = Grid(cells=7, bound=3)
    assert (grid.side, grid.tokens) == (1, FIRST + 49)
    (tokens,) = grid.encode([LINES])
    middle = FIRST + 3 * 7 + 3
    assert tokens.tolist() == [middle + 2, SEPARATOR, middle + 1 - 7, middle + 1 + 7, middle + 1 + 14, END]
    assert grid.decode(tokens).tolist() == LINES.tolist()


def test_a_coarser_grid_is_off_by_less_than_a_cell() -> None:
    grid, moves = Grid(cells=10, bound=50), np.array([[11, -7, 0], [-30, 21, 1], [47, 5, 0], [3, 3, 1]])
    result = grid.decode(grid.encode([moves])[0])
    assert np.abs(places(result) - places(moves)).max() <= grid.side // 2 + 1
    assert result[:, 2].tolist() == moves[:, 2].tolist()


def test_errors_of_a_dictionary_do_not_add_up() -> None:
    """Thirty moves of 7 by movements of 5 and 10 are never off by more than half the difference."""
    dictionary = Dictionary(np.array([[5, 0], [10, 0]]), np.array([1, 1]), bound=300)
    moves = np.array([[7, 0, 0]] * 29 + [[7, 0, 1]])
    result = dictionary.decode(dictionary.encode([moves])[0])
    assert np.abs(places(result) - places(moves)).max() <= 3


def test_a_dictionary_of_every_move_loses_nothing_and_several_drawings_are_coded_as_each_alone() -> None:
    other = LINES[::-1].copy()
    other[-1, 2] = 1
    dictionary = learn_dictionary(np.concatenate([LINES, other])[:, :2], count=50, bound=4)
    together, alone = dictionary.encode([LINES, other]), [dictionary.encode([drawing])[0] for drawing in (LINES, other)]
    for tokens, tokens_alone, moves in zip(together, alone, (LINES, other), strict=True):
        assert tokens.tolist() == tokens_alone.tolist()
        assert dictionary.decode(tokens).tolist() == moves.tolist()


def test_the_points_of_a_dictionary_are_all_points_within_its_bound() -> None:
    dictionary = learn_dictionary(np.random.default_rng(1).integers(-9, 10, (300, 2)), count=12, bound=10)
    assert dictionary.counts.sum() == 21**2
    assert (dictionary.counts > 0).all()
    assert (Grid(7, 10).points[FIRST:] == 9).all()


def test_k_means_finds_the_middles_of_what_is_apart() -> None:
    heaps = np.concatenate([centre + np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]) for centre in ([20, 0], [0, 30])])
    assert learn_dictionary(heaps, count=2, bound=40).movements.tolist() in ([[0, 30], [20, 0]], [[20, 0], [0, 30]])


@pytest.mark.parametrize("coding", [Grid(5, 10), Dictionary(np.array([[1, 0], [0, 2]]), np.array([3, 4]), 10)])
def test_what_a_model_writes_oddly_is_still_a_drawing(coding: Grid | Dictionary) -> None:
    """Repeated or leading separators split nothing, and a truncated drawing ends."""
    moves = coding.decode(np.array([SEPARATOR, FIRST, SEPARATOR, SEPARATOR, FIRST + 1]))
    assert moves[:, 2].tolist() == [1, 1]
    assert moves_of(strokes_of(moves))[:, 2].sum() == 2
