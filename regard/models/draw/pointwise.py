"""Pointwise parts of a DRAW step, between its products: pure functions of tensors, which can be compiled.

A step has four small products, and between them some thirty smaller operations. Compiled, these become a few kernels:
on a GPU, launching such a small kernel is most of its cost. `regard.kernels.drawing` has kernels for whole steps,
unless pictures are too large for them.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from regard.models.draw.filters import NUMBERS, Picture, filter_bank, read_patch, write_patch

Hidden = Float[Tensor, "batch unit"]
Latents = Float[Tensor, "batch latent"]
Said = Float[Tensor, "batch said"]  # the decoder's output: reading window, writing window, then the patch to write


class Grids(NamedTuple):
    """Filters per side of the reading window and of the writing window."""

    read: int
    write: int


def read_error(pictures: Picture, canvas: Picture, said: Said, grid: int | None) -> Float[Tensor, "batch number"]:
    """read(x, x̂, h^dec), with x̂ = x − σ(c); without a grid both pictures whole (equations 17, 27)."""
    views = torch.stack([pictures, pictures - canvas.sigmoid()], dim=2)
    if grid is not None:
        views = read_patch(filter_bank(said[:, :NUMBERS], grid, *pictures.shape[1:]), views)
    return views.flatten(1)


def see(
    pictures: Picture, canvas: Picture, said: Said, decoder: Hidden, encoder: Hidden, grid: int | None
) -> Float[Tensor, "batch input"]:
    """[read(x, x̂, h^dec), h^dec, h^enc]."""
    return torch.cat([read_error(pictures, canvas, said, grid), decoder, encoder], dim=1)


def remember(sums: Float[Tensor, "batch sum"], cell: Hidden) -> tuple[Hidden, Hidden]:
    """Return an LSTM's output and cell: c' = σ(f) c + σ(i) tanh(g), h' = σ(o) tanh(c').

    Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000.
    """
    enter, keep, candidate, show = sums.chunk(4, dim=1)
    cell = keep.sigmoid() * cell + enter.sigmoid() * candidate.tanh()
    return show.sigmoid() * cell.tanh(), cell


def draw_latents(
    posterior: Float[Tensor, "batch numbers"], noise: Latents, decoder: Hidden
) -> Float[Tensor, "batch input"]:
    """[z, h^dec], with z = μ + σ ε; the posterior holds μ and log σ side by side (equations 1 and 2)."""
    mean, log_deviation = posterior.chunk(2, dim=1)
    return torch.cat([mean + log_deviation.exp() * noise, decoder], dim=1)


def add_patch(canvas: Picture, said: Said, grid: int | None) -> Picture:
    """c + write(h^dec): a patch through the writing window or, without a grid, a whole picture (equations 18, 29)."""
    if grid is None:
        return canvas + said.view_as(canvas)
    bank = filter_bank(said[:, NUMBERS : 2 * NUMBERS], grid, *canvas.shape[1:])
    return canvas + write_patch(bank, said[:, 2 * NUMBERS :].unflatten(1, (grid, grid)))


def turn(
    pictures: Picture, canvas: Picture, said: Said, decoder: Hidden, encoder: Hidden, grids: Grids | None
) -> tuple[Picture, Float[Tensor, "batch input"]]:
    """Go from the end of one step to the next: write the patch, then look at the remaining error."""
    read, write = grids or (None, None)
    canvas = add_patch(canvas, said, write)
    return canvas, see(pictures, canvas, said, decoder, encoder, read)


class Parts(NamedTuple):
    """The parts of a step, plain or compiled."""

    turn: Callable[..., Any]
    remember: Callable[..., Any]
    draw_latents: Callable[..., Any]


PLAIN = Parts(turn, remember, draw_latents)


@cache
def compiled_parts() -> Parts:
    """Compile the parts, each for the shapes it meets."""
    return Parts(*(torch.compile(part, dynamic=False) for part in PLAIN))
