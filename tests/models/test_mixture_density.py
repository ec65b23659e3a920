"""The mixture density: numbers by hand, an integral of one, parity with torch, and temperature."""

import math

import pytest
import torch
from torch import Tensor

from regard.models.strokes.mixture import Mixture, draw_move, log_density, log_pens, mixture_of, outputs_of


def mixture(**changes: list) -> Mixture:
    """Return two Gaussians with shares 1/4 and 3/4."""
    parts = {
        "log_shares": [[math.log(0.25), math.log(0.75)]],
        "means": [[[0.0, 0.0], [1.0, -1.0]]],
        "log_deviations": [[[0.0, 0.0], [math.log(0.5), math.log(2.0)]]],
        "correlations": [[0.0, 0.6]],
        "pens": [[0.0, 0.0, math.log(2.0)]],
    }
    return Mixture(**{name: torch.tensor(value, dtype=torch.float64) for name, value in (parts | changes).items()})


def test_one_gaussian_on_paper() -> None:
    """At its mean a standard Gaussian in the plane has density 1 / 2π; one deviation away, e^−½ of that."""
    alone = mixture(log_shares=[[0.0, -torch.inf]])
    at = log_density(alone, torch.tensor([[0.0, 0.0]], dtype=torch.float64))
    off = log_density(alone, torch.tensor([[0.0, 1.0]], dtype=torch.float64))
    assert at.item() == pytest.approx(-math.log(2 * math.pi))
    assert off.item() == pytest.approx(-math.log(2 * math.pi) - 0.5)


def test_pens_on_paper() -> None:
    assert log_pens(mixture()).exp()[0].tolist() == pytest.approx([0.25, 0.25, 0.5])


def gaussian(moves: Tensor, mean: list[float], covariance: list[list[float]]) -> Tensor:
    """exp(−½ (x − μ)ᵀ Σ⁻¹ (x − μ)) / 2π √|Σ|, as in textbooks."""
    sigma, off = torch.tensor(covariance, dtype=torch.float64), moves - torch.tensor(mean, dtype=torch.float64)
    distance = torch.einsum("...i,ij,...j", off, sigma.inverse(), off)
    return (-0.5 * distance).exp() / (2 * math.pi * sigma.det().sqrt())


def test_it_is_the_mixture_of_gaussians_by_their_covariances() -> None:
    moves = torch.randn(50, 1, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 2
    first = gaussian(moves, [0, 0], [[1, 0], [0, 1]])
    second = gaussian(moves, [1, -1], [[0.25, 0.6], [0.6, 4]])
    torch.testing.assert_close(log_density(mixture(), moves), (0.25 * first + 0.75 * second).log())


def test_whatever_a_network_says_the_density_integrates_to_one() -> None:
    outputs = torch.randn(1, outputs_of(3), dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    line = torch.linspace(-24, 24, 481, dtype=torch.float64)
    plane = torch.stack(torch.meshgrid(line, line, indexing="ij"), dim=-1).flatten(0, 1)
    total = log_density(mixture_of(outputs), plane).exp().sum() * (line[1] - line[0]) ** 2
    assert total.item() == pytest.approx(1, abs=1e-6)


def test_drawn_moves_have_the_mean_and_the_correlation_that_they_should() -> None:
    alone = mixture(log_shares=[[-torch.inf, 0.0]])
    chance = torch.rand(20_000, 4, generator=torch.Generator().manual_seed(3))
    wide = Mixture(*(part.expand(20_000, *part.shape[1:]) for part in alone))
    moves, pens = draw_move(wide, 1.0, chance)
    assert moves.mean(dim=0).tolist() == pytest.approx([1, -1], abs=0.05)
    assert torch.corrcoef(moves.T)[0, 1].item() == pytest.approx(0.6, abs=0.02)
    assert (pens == 2).double().mean().item() == pytest.approx(0.5, abs=0.02)


def test_the_colder_the_nearer_to_the_most_probable() -> None:
    chance = torch.rand(200, 4, generator=torch.Generator().manual_seed(4))
    wide = Mixture(*(part.expand(200, *part.shape[1:]) for part in mixture()))
    moves, pens = draw_move(wide, 1e-6, chance)
    torch.testing.assert_close(moves, torch.tensor([1.0, -1.0], dtype=torch.float64).expand(200, 2), atol=0.01, rtol=0)
    assert (pens == 2).all()
