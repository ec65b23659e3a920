"""Density of the pen's next move over the plane: a mixture of Gaussians in two dimensions.

    p(x, y) = Σ_k π_k N(x, y | μ_k, σ_k, ρ_k)

    N(x, y | μ, σ, ρ) = exp(−Z / 2(1 − ρ²)) / (2π σ_x σ_y √(1 − ρ²)),   Z = u² + v² − 2ρuv,
    u = (x − μ_x) / σ_x,   v = (y − μ_y) / σ_y

Graves 2013, "Generating Sequences With Recurrent Neural Networks", equations 23 to 25; the pen's action is one of
three, as in sketch-rnn (Ha and Eck 2017, equation 3). At a temperature τ the logits of π and of the pen are divided by
τ and the variances multiplied by it (Ha and Eck 2017, equation 8).
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.models.parts import choose_by

PENS = 3  # the stroke continues, the stroke ends, the drawing ends
NARROWEST = math.exp(-9.0)  # least σ of a Gaussian, in scaled units: far less than a unit of any data set
_NEARLY_ONE = 1 - 1e-5  # largest |ρ|: at 1 a Gaussian is a line, and has no density


class Mixture(NamedTuple):
    """The Gaussians of each step, as logarithms of their shares and deviations, and the logits of the pen."""

    log_shares: Float[Tensor, "*step part"]
    means: Float[Tensor, "*step part 2"]
    log_deviations: Float[Tensor, "*step part 2"]
    correlations: Float[Tensor, "*step part"]
    pens: Float[Tensor, "*step 3"]


def outputs_of(parts: int) -> int:
    """Return the number of outputs for a mixture of `parts` Gaussians."""
    return 6 * parts + PENS


def mixture_of(outputs: Float[Tensor, "*step output"]) -> Mixture:
    """Return the mixture that a network's outputs describe."""
    parts = (outputs.shape[-1] - PENS) // 6
    shares, means, deviations, correlations, pens = outputs.split([parts, 2 * parts, 2 * parts, parts, PENS], dim=-1)
    return Mixture(
        shares.log_softmax(dim=-1),
        means.unflatten(-1, (parts, 2)),
        deviations.unflatten(-1, (parts, 2)).clamp(min=math.log(NARROWEST)),
        _NEARLY_ONE * correlations.tanh(),
        pens,
    )


def log_density(mixture: Mixture, moves: Float[Tensor, "*step 2"]) -> Float[Tensor, "*step"]:
    """Return log p(x, y) of a move at each step."""
    across, down = ((moves.unsqueeze(-2) - mixture.means) / mixture.log_deviations.exp()).unbind(-1)
    free = 1 - mixture.correlations.square()
    distance = across.square() + down.square() - 2 * mixture.correlations * across * down
    log_size = math.log(2 * math.pi) + mixture.log_deviations.sum(-1) + 0.5 * free.log()
    return torch.logsumexp(mixture.log_shares - distance / (2 * free) - log_size, dim=-1)


def log_pens(mixture: Mixture) -> Float[Tensor, "*step 3"]:
    return mixture.pens.log_softmax(dim=-1)


def draw_move(
    mixture: Mixture, temperature: float, chance: Float[Tensor, "row 4"]
) -> tuple[Float[Tensor, "row 2"], Tensor]:
    """Sample a move and the pen's action after it for each row, by four uniform random numbers between 0 and 1.

    The first chooses a Gaussian and the second the pen, by the interval it falls into; the last two give normal
    deviates, by the inverse of their distribution function.
    """
    part = choose_by(mixture.log_shares / temperature, chance[:, 0])
    pen = choose_by(mixture.pens / temperature, chance[:, 1])
    rows = torch.arange(len(part), device=part.device)
    mean, deviation = mixture.means[rows, part], mixture.log_deviations[rows, part].exp() * temperature**0.5
    correlation = mixture.correlations[rows, part]
    first, second = torch.special.ndtri(chance[:, 2:].double().clamp(1e-12, 1 - 1e-12)).to(mean.dtype).unbind(-1)
    correlated = correlation * first + (1 - correlation.square()).sqrt() * second
    return mean + deviation * torch.stack([first, correlated], dim=-1), pen
