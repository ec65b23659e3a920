"""The cross-entropy in portions against torch's own."""

import pytest
import torch
import torch.nn.functional as F

from regard.models import cross_entropy
from regard.models.cross_entropy import projected_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("portion", [1, 40, 2**23])
def test_loss_and_gradients_are_torchs(smoothing: float, portion: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cross_entropy.PORTION, "cpu", portion)
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(9, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(13, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    wanted = torch.randint(13, (9,), generator=generator)
    ours = projected_cross_entropy(states, weight, wanted, smoothing)
    theirs = F.cross_entropy(states @ weight.T, wanted, reduction="sum", label_smoothing=smoothing)
    torch.testing.assert_close(ours, theirs)
    for mine, other in zip(
        torch.autograd.grad(3 * ours, (states, weight)), torch.autograd.grad(3 * theirs, (states, weight)), strict=True
    ):
        torch.testing.assert_close(mine, other)


def test_uniform_logits_on_paper() -> None:
    """Zero states make every token equally likely: the loss is log V a place, whatever the smoothing."""
    for smoothing in (0.0, 0.3):
        loss = projected_cross_entropy(torch.zeros(4, 2), torch.ones(8, 2), torch.tensor([0, 1, 2, 7]), smoothing)
        assert loss.item() == pytest.approx(4 * torch.log(torch.tensor(8.0)).item())
