"""Heads that attend by position alone: equal to a convolution in float64, and Gaussians computed by hand."""

import math

import pytest
import torch
from torch import nn

from regard.attention.quadratic import QuadraticHeads, as_heads
from regard.attention.rollout import roll_out
from regard.attention.watch import watching


@pytest.mark.parametrize(("kernel", "bias", "size"), [(1, True, (4, 3)), (3, True, (6, 7)), (5, False, (5, 3))])
def test_as_many_heads_as_a_filter_has_places_are_a_convolution(kernel: int, bias: bool, size: tuple) -> None:
    convolution = nn.Conv2d(3, 4, kernel, padding=kernel // 2, bias=bias).double()
    pictures = torch.randn(2, 3, *size, dtype=torch.float64)
    heads = as_heads(convolution)
    assert heads.heads == kernel**2
    looked = heads(pictures.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    torch.testing.assert_close(looked, convolution(pictures))


def test_heads_that_are_not_sharp_are_none() -> None:
    convolution = nn.Conv2d(1, 1, 3, padding=1).double()
    picture = torch.randn(1, 1, 5, 5, dtype=torch.float64)
    looked = as_heads(convolution, sharpness=1.0)(picture.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    assert not torch.allclose(looked, convolution(picture), rtol=0.01)


@pytest.mark.parametrize("other", [{"stride": 2}, {"padding": 0}, {"padding": 1, "dilation": 2}])
def test_a_convolution_that_shrinks_or_skips_has_no_such_heads(other: dict) -> None:
    with pytest.raises(ValueError, match="needs a square convolution of odd size"):
        as_heads(nn.Conv2d(1, 1, 3, **{"padding": 1, **other}))


def test_weights_are_a_gaussian_around_the_centre() -> None:
    """Three cells in a line, α = ln 2: at Δ = 1 the first has weights 2⁻¹ : 1 : 2⁻¹, the second 2⁻⁴ : 2⁻¹ : 1."""
    heads = QuadraticHeads(1, 1, 1, 1, looks_from="source", looks_at="source").double()
    with torch.no_grad():
        heads.centres.copy_(torch.tensor([[0.0, 1.0]]))
        heads.log_sharpness.fill_(math.log(math.log(2)))
    with watching(heads) as gazes:
        heads(torch.randn(1, 1, 3, 1, dtype=torch.float64))
    expected = torch.tensor([[0.5, 1, 0.5], [1 / 16, 0.5, 1]], dtype=torch.float64)
    torch.testing.assert_close(gazes[0].weights[0, 0, :2], expected / expected.sum(1, keepdim=True))


def test_the_rollout_of_two_blocks_on_paper() -> None:
    """Each block is half its mean attention, half the identity: ½(A + I) twice, the first block on the right."""
    first = torch.tensor(
        [[[[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]]]
    )  # two heads; their mean is ((½, ½), (1, 0))
    second = torch.tensor([[[[0.0, 1.0], [0.0, 1.0]]]])
    below = torch.tensor([[0.75, 0.25], [0.5, 0.5]])
    above = torch.tensor([[0.5, 0.5], [0.0, 1.0]])
    torch.testing.assert_close(roll_out([first, second])[0], above @ below)
