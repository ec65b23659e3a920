"""t-SNE: perplexities, the gradient compared with differences, and groups that stay together."""

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.base.pauses import pausing
from regard.viewing.planes import (
    joint_probabilities,
    lay_out_neighbours,
    neighbour_probabilities,
    t_sne_cost,
    t_sne_slope,
)


def test_two_words_are_laid_out_as_they_are():
    np.testing.assert_allclose(np.abs(lay_out_neighbours(np.array([[1.0], [5.0]]))), [[2, 0], [2, 0]])


def test_every_row_has_the_perplexity_that_is_asked_for():
    distances = np.random.default_rng(1).random((30, 30)) * 9
    rows = neighbour_probabilities(distances, perplexity=7)
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert (np.diag(rows) == 0).all()
    entropy = -(rows * np.log2(np.where(rows > 0, rows, 1))).sum(axis=1)
    np.testing.assert_allclose(2**entropy, 7, rtol=1e-6)


def test_the_neighbours_of_many_words_are_found_in_steps():
    """A thousand words used to take four seconds before the first step, without a chance to interrupt."""
    steps: list[bool] = []
    with pausing(steps.append):
        neighbour_probabilities(np.ones((5, 5)), perplexity=2)
    assert len(steps) >= 50


def test_the_slope_of_t_sne_is_that_of_its_cost():
    random = np.random.default_rng(2)
    targets, places = joint_probabilities(random.standard_normal((12, 5)), 4), random.standard_normal((12, 2))
    assert targets.sum() == pytest.approx(1)
    slope, step = t_sne_slope(targets, places), 1e-6
    for place in np.ndindex(places.shape):
        nudge = np.zeros_like(places)
        nudge[place] = step
        difference = (t_sne_cost(targets, places + nudge) - t_sne_cost(targets, places - nudge)) / (2 * step)
        assert slope[place] == pytest.approx(difference, rel=1e-5, abs=1e-9)


def test_neighbours_stay_together_and_the_map_is_the_same_every_time():
    random = np.random.default_rng(3)
    centres = np.eye(4, 20)
    vectors = np.repeat(centres, 15, axis=0) + 0.1 * random.standard_normal((60, 20))
    heard: list[int] = []
    places = lay_out_neighbours(
        vectors, perplexity=10, steps=400, progress=lambda what, done, total: heard.append(done)
    )
    assert heard[-1] == 400
    distances = np.linalg.norm(places[:, None] - places[None], axis=2) + np.diag(np.full(60, np.inf))
    nearest = distances.argmin(axis=1)
    assert (nearest // 15 == np.arange(60) // 15).all()
    np.testing.assert_array_equal(places, lay_out_neighbours(vectors, perplexity=10, steps=400))


def test_equal_vectors_give_a_map_without_a_hole():
    assert np.isfinite(lay_out_neighbours(np.ones((6, 3)), steps=20)).all()


def test_too_many_words_are_refused():
    with pytest.raises(Fault, match="t-SNE lays out at most 2,000 words, and these are 2,001; give fewer, or use pca"):
        lay_out_neighbours(np.zeros((2001, 2)))
