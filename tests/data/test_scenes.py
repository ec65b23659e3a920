"""Scenes: place and clutter of a picture; a row is the same with any other rows."""

import numpy as np
import pytest

from regard.data.pictures.options import PIECE, Scene
from regard.data.pictures.scenes import make_scenes

PICTURES = np.random.default_rng(5).integers(1, 200, (20, 9, 8), np.uint8)
ROWS = np.arange(20)


@pytest.mark.parametrize("clutter", [0, 3])
def test_a_row_is_the_same_whichever_rows_it_is_made_with(clutter: int) -> None:
    scene = Scene(side=24, clutter=clutter)
    together = make_scenes(PICTURES, ROWS, scene, (1, "test"))
    backwards = make_scenes(PICTURES, ROWS[::-1], scene, (1, "test"))
    assert np.array_equal(backwards[::-1], together)
    assert not np.array_equal(make_scenes(PICTURES, ROWS, scene, (2, "test")), together)


def test_without_clutter_a_scene_is_the_picture_at_some_place_and_black_elsewhere() -> None:
    corners = set()
    for picture, scene in zip(PICTURES, make_scenes(PICTURES, ROWS, Scene(side=12), ("key",)), strict=True):
        top, left = (np.flatnonzero(scene.any(axis=axis))[0] for axis in (1, 0))
        assert np.array_equal(scene[top : top + 9, left : left + 8], picture)
        assert scene.sum() == picture.sum()
        corners.add((int(top), int(left)))
    assert {top for top, _ in corners} == {0, 1, 2, 3}  # every possible place
    assert {left for _, left in corners} == {0, 1, 2, 3, 4}


def test_clutter_covers_with_what_is_brighter_and_is_cut_from_other_pictures() -> None:
    plain = make_scenes(PICTURES, ROWS, Scene(side=24), ("key",))
    cluttered = make_scenes(PICTURES, ROWS, Scene(side=24, clutter=2), ("key",))
    assert (cluttered >= plain).all()
    added = (cluttered != plain).sum(axis=(1, 2))
    assert added.max() <= 2 * PIECE**2
    assert added.min() > 0


def test_places_are_drawn_evenly() -> None:
    many = make_scenes(np.full((4000, 1, 1), 9, np.uint8), np.arange(4000), Scene(side=4), ("key",))
    counts = (many == 9).sum(axis=0)
    assert counts.sum() == 4000
    assert abs(counts - 250).max() < 5 * np.sqrt(250)  # five standard deviations


def test_a_scene_as_large_as_the_picture_is_the_picture() -> None:
    square = PICTURES[:, :8]
    assert np.array_equal(make_scenes(square, ROWS, Scene(side=8), ("key",)), square)
