"""Backpropagation through time written out matches autograd in float64; clipping by hand."""

import pytest
import torch
from torch import nn

from regard.models.recurrent.cells import weights_of
from regard.seeing.lessons.gradients import backpropagate, clip, norm_of


@pytest.mark.parametrize(("batch", "time", "depth", "width"), [(1, 1, 1, 1), (2, 5, 3, 4), (3, 9, 4, 2)])
@pytest.mark.parametrize("every_step", [True, False], ids=["loss of every step", "loss of the last"])
def test_all_gradients_are_autograds(batch: int, time: int, depth: int, width: int, every_step: bool) -> None:
    torch.manual_seed(time)
    module = nn.RNN(depth, width, batch_first=True, dtype=torch.float64)
    inputs = torch.randn(batch, time, depth, dtype=torch.float64, requires_grad=True)
    start = torch.randn(batch, width, dtype=torch.float64, requires_grad=True)
    hidden, _ = module(inputs, start[None])
    seen = hidden if every_step else hidden[:, -1:]
    loss = (seen - torch.randn_like(seen)).pow(2).sum()
    (upstream,) = torch.autograd.grad(loss, hidden, retain_graph=True)
    of_input, of_state, one_bias, other_bias = (
        module.weight_ih_l0, module.weight_hh_l0, module.bias_ih_l0, module.bias_hh_l0,
    )  # fmt: skip
    expected = torch.autograd.grad(loss, [of_input, of_state, one_bias, inputs, start, other_bias])
    gradients = backpropagate(inputs, start, hidden, upstream, weights_of(module))
    torch.testing.assert_close(tuple(gradients), expected[:-1])
    torch.testing.assert_close(gradients.bias, expected[-1])


def test_clipping_on_paper() -> None:
    """‖(3, 4)‖ = 5: clipped at 1 it is (0.6, 0.8), and at 5 or more it stays."""
    gradients = [torch.tensor([3.0]), torch.tensor([[4.0]])]
    assert norm_of(gradients).item() == 5
    assert [part.item() for part in clip(gradients, 1.0)] == pytest.approx([0.6, 0.8])
    assert [part.item() for part in clip(gradients, 5.0)] == [3, 4]
    assert [part.item() for part in clip([torch.zeros(1)], 1.0)] == [0]


def test_clipping_is_torchs() -> None:
    weight = nn.Parameter(torch.zeros(3, 4, dtype=torch.float64))
    weight.grad = torch.randn(3, 4, dtype=torch.float64) * 1e6  # so long that torch's 1e-6 in the divisor vanishes
    (gradient,) = clip([weight.grad.clone()], 2.0)
    nn.utils.clip_grad_norm_([weight], 2.0)
    torch.testing.assert_close(gradient, weight.grad)
