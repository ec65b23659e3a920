"""The chunked cross-entropy compared with torch's own."""

import pytest
import torch
import torch.nn.functional as F

from regard.models import cross_entropy
from regard.models.cross_entropy import consistent_cross_entropy, projected_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("portion", [1, 40, 2**23])
def test_loss_and_gradients_are_torchs(smoothing: float, portion: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cross_entropy.PORTION, "cpu", portion)
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(9, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(13, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(13, (9,), generator=generator)
    ours = projected_cross_entropy(states, weight, targets, smoothing)
    theirs = F.cross_entropy(states @ weight.T, targets, reduction="sum", label_smoothing=smoothing)
    torch.testing.assert_close(ours, theirs)
    for mine, other in zip(
        torch.autograd.grad(3 * ours, (states, weight)), torch.autograd.grad(3 * theirs, (states, weight)), strict=True
    ):
        torch.testing.assert_close(mine, other)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("portion", [1, 60, 2**23])
def test_two_passes_against_the_formula(smoothing: float, portion: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-Drop with torch's own losses: (CE + CE) / 2 + consistency / 4 · (KL + KL)."""
    monkeypatch.setitem(cross_entropy.PORTION, "cpu", portion)
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(2, 9, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(13, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(13, (9,), generator=generator)
    ours = consistent_cross_entropy(states, weight, targets, smoothing, consistency=3.0)
    p, q = (states @ weight.T).log_softmax(-1)
    theirs = 0.5 * sum(F.cross_entropy(x, targets, reduction="sum", label_smoothing=smoothing) for x in (p, q))
    theirs = theirs + 0.75 * sum(F.kl_div(a, b, reduction="sum", log_target=True) for a, b in ((p, q), (q, p)))
    torch.testing.assert_close(ours, theirs)
    for mine, other in zip(
        torch.autograd.grad(3 * ours, (states, weight)), torch.autograd.grad(3 * theirs, (states, weight)), strict=True
    ):
        torch.testing.assert_close(mine, other)


def test_a_bias_is_part_of_the_logits_and_what_is_never_written_learns_nothing() -> None:
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(9, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(13, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(13, generator=generator, dtype=torch.float64)
    targets = torch.randint(12, (9,), generator=generator)
    ours = projected_cross_entropy(states, weight, targets, 0.1, bias)
    theirs = F.cross_entropy(states @ weight.T + bias, targets, reduction="sum", label_smoothing=0.1)
    torch.testing.assert_close(ours, theirs)
    for mine, other in zip(
        torch.autograd.grad(ours, (states, weight)), torch.autograd.grad(theirs, (states, weight)), strict=True
    ):
        torch.testing.assert_close(mine, other)
    twice = consistent_cross_entropy(torch.stack([states, states]), weight, targets, 0.1, 5.0, bias)
    torch.testing.assert_close(twice, theirs)
    never = bias.clone()
    never[12] = -1e9
    loss = projected_cross_entropy(states, weight, targets, 0.0, never)
    torch.testing.assert_close(loss, F.cross_entropy(states @ weight[:12].T + bias[:12], targets, reduction="sum"))
    (of_weight,) = torch.autograd.grad(projected_cross_entropy(states, weight, targets, 0.1, never), (weight,))
    assert not of_weight[12].any()
    assert of_weight[:12].any(dim=1).all()


def test_a_bias_that_learns_has_torchs_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cross_entropy.PORTION, "cpu", 40)
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(2, 9, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(13, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(13, generator=generator, dtype=torch.float64, requires_grad=True)
    targets, leaves = torch.randint(13, (9,), generator=generator), (states, weight, bias)
    p, q = (states @ weight.T + bias).log_softmax(-1)
    once = F.cross_entropy(p, targets, reduction="sum", label_smoothing=0.1)
    both = 0.5 * (once + F.cross_entropy(q, targets, reduction="sum", label_smoothing=0.1))
    both = both + 0.75 * sum(F.kl_div(a, b, reduction="sum", log_target=True) for a, b in ((p, q), (q, p)))
    for ours, theirs in (
        (projected_cross_entropy(states[0], weight, targets, 0.1, bias), once),
        (consistent_cross_entropy(states, weight, targets, 0.1, 3.0, bias), both),
    ):
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(
            torch.autograd.grad(ours, leaves), torch.autograd.grad(theirs, leaves, retain_graph=True)
        )


def test_passes_that_agree_cost_the_plain_cross_entropy() -> None:
    states, weight = torch.randn(4, 2), torch.randn(8, 2)
    targets = torch.tensor([0, 1, 2, 7])
    twice = consistent_cross_entropy(torch.stack([states, states]), weight, targets, 0.1, consistency=5.0)
    torch.testing.assert_close(twice, projected_cross_entropy(states, weight, targets, 0.1))


@pytest.mark.parametrize("tied", [False, True])
def test_gradients_are_the_same_every_time_they_are_asked_for(tied: bool) -> None:
    """Gradients returned without a copy must not be overwritten while someone may request them again."""
    weight = torch.randn(8, 2, requires_grad=True)
    states = weight[:4] * 2 if tied else torch.randn(4, 2)
    loss = projected_cross_entropy(states, weight, torch.tensor([0, 1, 2, 7]), 0.1)
    loss.backward(retain_graph=True)
    assert weight.grad is not None
    once = weight.grad.clone()
    loss.backward(retain_graph=True)
    torch.testing.assert_close(weight.grad, 2 * once)
    (3 * loss).backward()
    torch.testing.assert_close(weight.grad, 5 * once)


@pytest.mark.parametrize("far", [1e3, 1e4])
def test_a_token_that_is_all_but_impossible_costs_what_it_should(far: float) -> None:
    """Its probability is zero in any precision, and log Σ exp is the other token's logit."""
    loss = projected_cross_entropy(torch.tensor([[far]]), torch.tensor([[1.0], [0.0]]), torch.tensor([1]), 0.0)
    assert loss.item() == pytest.approx(far)


def test_uniform_logits_on_paper() -> None:
    """Zero states make every token equally likely: the loss is log V per place with any smoothing."""
    for smoothing in (0.0, 0.3):
        loss = projected_cross_entropy(torch.zeros(4, 2), torch.ones(8, 2), torch.tensor([0, 1, 2, 7]), smoothing)
        assert loss.item() == pytest.approx(4 * torch.log(torch.tensor(8.0)).item())


def test_nothing_but_padding_costs_nothing() -> None:
    states, weight = torch.randn(3, 2, requires_grad=True), torch.randn(8, 2, requires_grad=True)
    nothing = torch.full((3,), -1)
    for loss in (
        projected_cross_entropy(states, weight, nothing, 0.1),
        consistent_cross_entropy(torch.stack([states, states]), weight, nothing, 0.1, 1.0),
    ):
        assert loss.item() == 0
        for gradient in torch.autograd.grad(loss, (states, weight)):
            assert (gradient == 0).all()
