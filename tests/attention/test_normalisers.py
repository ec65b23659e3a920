"""Normalisers from scores to weights: answers computed by hand, and zeros for a query that may look nowhere."""

import math

import pytest
import torch
from attention_cases import draw

from regard.attention import named_normaliser, normalise
from regard.attention.normalisers import (
    Normaliser,
    NormaliserName,
    Positiveness,
    entmax15,
    plain,
    plain_of_exp,
    plain_of_positive,
    softmax,
    sparsemax,
)
from regard.base.faults import Fault

NAMES: list[NormaliserName] = ["softmax", "plain", "sparsemax", "entmax"]
every_normaliser = pytest.mark.parametrize("name", NAMES)


def test_softmax_of_zero_and_one() -> None:
    weights = softmax(torch.tensor([0.0, 1.0]), None)
    torch.testing.assert_close(weights, torch.tensor([1 / (1 + math.e), math.e / (1 + math.e)]))
    assert normalise is softmax


def test_plain_on_paper() -> None:
    torch.testing.assert_close(plain(torch.tensor([1.0, 3.0, 4.0]), None), torch.tensor([0.125, 0.375, 0.5]))
    masked = plain(torch.tensor([1.0, 3.0, 4.0]), torch.tensor([True, True, False]))
    torch.testing.assert_close(masked, torch.tensor([0.25, 0.75, 0.0]))
    assert torch.equal(plain(torch.zeros(3), None), torch.zeros(3))


def test_shares_of_exp_are_a_softmax_however_large_the_scores() -> None:
    scores, mask = draw(3, 5) * 400, torch.tensor([[True] * 5, [True, False] * 2 + [True], [False] * 5])
    for dtype in (torch.float32, torch.float64):
        leaf = scores.to(dtype).requires_grad_()
        weights = plain_of_exp(leaf, mask)
        torch.testing.assert_close(weights, softmax(scores.to(dtype), mask))
        weights.square().sum().backward()
        assert leaf.grad is not None
        assert leaf.grad.isfinite().all()
    torch.testing.assert_close(plain_of_exp(scores, None), softmax(scores, None))
    assert plain_of_exp(scores[:, :0], mask[:, :0]).shape == (3, 0)


def test_gradients_of_shares_are_those_of_finite_differences() -> None:
    scores, mask = draw(2, 4).double().requires_grad_(), torch.tensor([[True] * 4, [True, True, False, False]])
    assert torch.autograd.gradcheck(lambda scores: plain_of_exp(scores, mask), scores)
    assert torch.autograd.gradcheck(lambda scores: plain_of_positive(scores.exp(), mask), scores)


def test_only_scores_that_may_be_looked_at_must_be_positive() -> None:
    scores, mask = torch.tensor([1.0, 3.0, -4.0]), torch.tensor([True, True, False])
    torch.testing.assert_close(plain_of_positive(scores, mask), torch.tensor([0.25, 0.75, 0.0]))
    for refused in (scores, torch.tensor([1.0, 0.0]), torch.tensor([1.0, math.nan])):
        with pytest.raises(Fault, match="needs positive attention scores"):
            plain_of_positive(refused, None)


@pytest.mark.parametrize(
    ("positive", "expected"), [("softplus", plain), ("exp", plain_of_exp), ("none", plain_of_positive)]
)
def test_plain_is_named_with_what_makes_scores_positive(positive: Positiveness, expected: Normaliser) -> None:
    assert named_normaliser("plain", positive) is expected
    assert named_normaliser("softmax", positive) is softmax


def test_sparsemax_on_paper() -> None:
    """The first two of (1, ½, −1) remain: τ = (1 + ½ − 1) / 2 = ¼ is subtracted from both."""
    torch.testing.assert_close(sparsemax(torch.tensor([1.0, 0.5, -1.0]), None), torch.tensor([0.75, 0.25, 0.0]))
    masked = sparsemax(torch.tensor([1.0, 0.5, 9.0]), torch.tensor([True, True, False]))
    torch.testing.assert_close(masked, torch.tensor([0.75, 0.25, 0.0]))


def test_entmax_on_paper() -> None:
    """p_i = (z_i/2 − τ)². For z = (1, 0) the sum is one at τ = (1 − √7)/4, for (2, 0) at τ = 0."""
    tau = (1 - math.sqrt(7)) / 4
    torch.testing.assert_close(entmax15(torch.tensor([1.0, 0.0]), None), torch.tensor([(0.5 - tau) ** 2, tau**2]))
    torch.testing.assert_close(entmax15(torch.tensor([2.0, 0.0]), None), torch.tensor([1.0, 0.0]))


@every_normaliser
def test_weights_sum_to_one_where_a_query_may_look_and_to_zero_elsewhere(name: NormaliserName) -> None:
    scores, mask = draw(2, 3, 5, 6).abs() * 3, draw(2, 1, 5, 6, seed=1) > 0
    mask[0, :, 2] = False
    weights = named_normaliser(name)(scores, mask)
    assert (weights >= 0).all()
    assert (weights.masked_select(~mask) == 0).all()
    torch.testing.assert_close(weights.sum(-1), mask.any(-1).double().expand(2, 3, 5))


@every_normaliser
def test_masked_keys_are_as_if_not_there(name: NormaliserName) -> None:
    scores = draw(4, 6).abs()
    mask = torch.tensor([True, False, True, True, False, True])
    weights = named_normaliser(name)(scores * (1 + 1000 * ~mask), mask.expand(4, 6))
    torch.testing.assert_close(weights[:, mask], named_normaliser(name)(scores[:, mask], None))


@every_normaliser
def test_gradients_are_finite_and_none_reaches_a_masked_key(name: NormaliserName) -> None:
    scores = draw(3, 4).abs().requires_grad_()
    mask = torch.tensor([[True, True, False, True], [False] * 4, [True, False, False, False]])
    weights = named_normaliser(name)(scores, mask)
    (gradient,) = torch.autograd.grad((weights * draw(3, 4, seed=1)).sum(), scores)
    assert gradient.isfinite().all()
    assert (gradient.masked_select(~mask) == 0).all()
    assert gradient[0].any()


@every_normaliser
def test_gradients_are_those_of_small_changes(name: NormaliserName) -> None:
    scores, mask = draw(2, 5, seed=7).abs().requires_grad_(), torch.tensor([True, True, False, True, True]).expand(2, 5)
    assert torch.autograd.gradcheck(lambda s: named_normaliser(name)(s, mask), scores)


@every_normaliser
@pytest.mark.parametrize("mask", [None, torch.ones(3, 0, dtype=torch.bool)], ids=["no mask", "mask"])
def test_of_no_keys_there_are_no_weights(name: NormaliserName, mask: torch.Tensor | None) -> None:
    assert named_normaliser(name)(torch.zeros(3, 0), mask).shape == (3, 0)


@every_normaliser
def test_half_precision_and_large_scores_are_no_trouble(name: NormaliserName) -> None:
    mask = torch.tensor([True, True, False])
    weights = named_normaliser(name)(torch.tensor([300.0, 100.0, 500.0], dtype=torch.bfloat16), mask)
    assert weights.dtype == torch.bfloat16
    assert weights[2] == 0
    assert weights.float().sum() == pytest.approx(1.0, abs=0.01)


@pytest.mark.usefixtures("unchecked_shapes")
def test_an_unknown_normaliser_is_refused() -> None:
    with pytest.raises(ValueError, match="no normaliser 'hardmax', only softmax, plain, sparsemax, entmax"):
        named_normaliser("hardmax")
