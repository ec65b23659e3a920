"""Roles of heads: answers on paper, words from tokens, and halves that are kept apart."""

import pytest
import torch

from regard.attention.roles import RoleSums, distance_sums, is_causal, role_sums, weights_between_words

FIRST, SECOND = torch.tensor([0]), torch.tensor([1])


def both_halves(weights: torch.Tensor, targets: torch.Tensor) -> RoleSums:
    return role_sums(weights, targets, FIRST) + role_sums(weights, targets, SECOND)


def test_weights_between_words_on_paper() -> None:
    """Tokens a1 a2 b end: the mean of a1 and a2 looks, and what they look at is added up; the end is no word."""
    tokens = torch.tensor(
        [[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.2, 0.2], [0.25, 0.25, 0.5, 0.0], [1, 0, 0, 0]], dtype=torch.float64
    )
    words = weights_between_words(tokens[None, None], [[0, 0, 1]], [[0, 0, 1]])
    expected = torch.tensor([[0.45, 0.25, 0.3], [0.5, 0.5, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(words[0, 0], expected)


def test_a_role_on_paper() -> None:
    """Head 1 looks at the target, head 2 gives it 0.25 and another more; the query without a target is no look."""
    hits = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    spread = [[0.25, 0.25, 0.5], [0.25, 0.5, 0.25], [0.5, 0.25, 0.25]]
    weights = torch.tensor([[hits, spread]], dtype=torch.float64)
    targets = torch.zeros(1, 3, 3, dtype=torch.bool)
    targets[0, 0, 1] = targets[0, 1, 0] = True
    sums = both_halves(weights, targets)
    assert sums.looks.tolist() == [2, 2]
    assert sums.strongest.tolist() == [[2, 0], [2, 0]]
    assert sums.weight.tolist() == [[2, 0.5], [2, 0.5]]
    assert sums.best_head() == 0


def test_the_offset_is_chosen_on_one_half_and_scored_on_the_other() -> None:
    """In the first half targets are next; in the second, one of two is next and the other before."""
    weights = torch.full((1, 1, 3, 3), 1 / 3, dtype=torch.float64)
    ahead = torch.zeros(1, 3, 3, dtype=torch.bool)
    ahead[0, 0, 1] = ahead[0, 1, 2] = True
    mixed = torch.zeros(1, 3, 3, dtype=torch.bool)
    mixed[0, 0, 1] = mixed[0, 2, 1] = True
    sums = role_sums(weights, ahead, FIRST) + role_sums(weights, mixed, SECOND)
    assert sums.best_offset() == (1, 0.5)
    assert not role_sums(weights, ahead, FIRST).is_complete


def test_a_strongest_weight_elsewhere_is_no_hit() -> None:
    """Both targets together have 0.3, but the strongest weight is on the end of the sentence."""
    weights = torch.tensor([[[[0.2, 0.1, 0.7]]]], dtype=torch.float64)
    sums = both_halves(weights, torch.tensor([[[True, True, False]]]))
    assert sums.strongest.tolist() == [[0], [0]]
    assert sums.weight[0, 0] == pytest.approx(0.3)


def test_distances_on_paper() -> None:
    """Three places that look back at the first: 0, 1 and 2 away; evenly over what is behind: 0, 1/2 and 1."""
    weights = torch.tensor([[[[1.0, 0, 0], [1, 0, 0], [1, 0, 0]]]], dtype=torch.float64)
    assert is_causal(weights)
    real = torch.ones(1, 3, dtype=torch.bool)
    sums = distance_sums(weights, real, FIRST) + distance_sums(weights, real, SECOND)
    assert sums.strongest.tolist() == [[3], [3]]
    assert sums.weight.tolist() == [[3], [3]]
    assert sums.best_offset() == (None, 0.5)
    padded = distance_sums(weights, torch.tensor([[True, True, False]]), SECOND)
    assert (padded.looks.tolist(), padded.strongest.tolist()) == ([0, 2], [[0], [1]])


def test_a_side_that_looks_ahead_is_not_causal() -> None:
    assert not is_causal(torch.full((1, 1, 2, 2), 0.5))
    assert not is_causal(torch.ones(1, 1, 2, 1))
