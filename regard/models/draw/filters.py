"""The selective attention of DRAW (Gregor et al. 2015, section 3.2): a grid of Gaussian filters over a picture.

A window is five numbers (g̃_X, g̃_Y, log σ², log δ̃, log γ), a linear function of the decoder's state (equation 21). For
a picture of A × B pixels and a grid of N × N filters (equations 19, 20 and 22 to 26):

    g_X = (A + 1)/2 · (g̃_X + 1)            g_Y = (B + 1)/2 · (g̃_Y + 1)         the centre of the grid
    δ = (max(A, B) − 1)/(N − 1) · δ̃                                            the distance between two filters
    μ_X^i = g_X + (i − N/2 − 0.5) δ        μ_Y^j = g_Y + (j − N/2 − 0.5) δ       their centres, i and j from 1 to N
    F_X[i, a] = exp(−(a − μ_X^i)² / 2σ²) / Z_X                                   pixels a from 1 to A
    F_Y[j, b] = exp(−(b − μ_Y^j)² / 2σ²) / Z_Y                                   pixels b from 1 to B

where Z makes each row of F sum to one. Reading gives N × N numbers; writing spreads N × N numbers over the picture
(equations 27 and 29):

    read(x, x̂) = γ [F_Y x F_Xᵀ, F_Y x̂ F_Xᵀ]            write(w) = γ⁻¹ F_Yᵀ w F_X

F is a softmax, which differs only for filters far outside the picture: they see the nearest edge, where the published
quotient would be 0 / 0.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

NUMBERS = 5  # numbers that describe a window
LOG_VARIANCE, LOG_DISTANCE, LOG_STRENGTH = 2, 3, 4  # indices of log σ², log δ̃ and log γ
Window = Float[Tensor, "batch 5"]
Picture = Float[Tensor, "batch height width"]


class FilterBank(NamedTuple):
    """The filters of both axes, and their read strength."""

    of_rows: Float[Tensor, "batch grid height"]  # F_Y
    of_columns: Float[Tensor, "batch grid width"]  # F_X
    strength: Float[Tensor, " batch"]  # γ


class Grid(NamedTuple):
    """Position of a window: its centre across and down, and the distance between filters; the first pixel is 1."""

    across: Float[Tensor, " batch"]
    down: Float[Tensor, " batch"]
    distance: Float[Tensor, " batch"]


def place_grid(window: Window, grid: int, height: int, width: int) -> Grid:
    """Return g_X, g_Y and δ of a window of grid × grid filters."""
    across, down, _, log_distance, _ = window.unbind(dim=1)
    distance = (max(height, width) - 1) / (grid - 1) * log_distance.exp()
    return Grid((width + 1) / 2 * (across + 1), (height + 1) / 2 * (down + 1), distance)


def filter_bank(window: Window, grid: int, height: int, width: int) -> FilterBank:
    """Return F_Y, F_X and γ of a window."""
    place = place_grid(window, grid, height, width)
    steps = torch.arange(grid, device=window.device, dtype=window.dtype) - (grid - 1) / 2
    precision = torch.exp(-window[:, LOG_VARIANCE])[:, None, None] / 2
    filters = []
    for centre, pixels in ((place.down, height), (place.across, width)):
        means = centre[:, None] + steps * place.distance[:, None]
        pixel = torch.arange(1, pixels + 1, device=window.device, dtype=window.dtype)
        filters.append(torch.softmax(-((pixel - means[:, :, None]) ** 2) * precision, dim=-1))
    return FilterBank(filters[0], filters[1], window[:, LOG_STRENGTH].exp())


def read_patch(
    bank: FilterBank, pictures: Float[Tensor, "batch height kind width"]
) -> Float[Tensor, "batch grid kind grid"]:
    """γ F_Y x F_Xᵀ of each kind of picture (the pictures to draw, and their errors), row next to row."""
    kinds, width = pictures.shape[2:]
    rows = (bank.of_rows @ pictures.flatten(2)).unflatten(2, (kinds, width))
    patch = (rows.flatten(1, 2) @ bank.of_columns.mT).unflatten(1, rows.shape[1:3])
    return bank.strength[:, None, None, None] * patch


def write_patch(bank: FilterBank, patch: Float[Tensor, "batch grid grid"]) -> Picture:
    """γ⁻¹ F_Yᵀ w F_X."""
    return bank.of_rows.mT @ (patch / bank.strength[:, None, None]) @ bank.of_columns
