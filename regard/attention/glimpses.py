"""Glimpses: a few small patches around a place in a picture, each twice as wide as the one before and half as sharp.

The input has the same size however large the picture is (Mnih et al. 2014, section 3.1). Places are pairs
(across, down) from -1, the left or upper edge of the picture, to 1, the right or lower edge.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Pictures = Float[Tensor, "batch height width"]
Places = Float[Tensor, "batch path 2"]


def take_glimpses(
    pictures: Pictures, places: Places, patch: int, scales: int
) -> Float[Tensor, "batch path scale patch patch"]:
    """ρ(x, l): around each place l of a picture x, cut `scales` windows with sides of patch · 2⁰, patch · 2¹, … pixels.

    Each window is averaged down to `patch` × `patch` pixels; outside the picture everything is zero. Windows lie on
    whole pixels, so `patch` is even. No gradient reaches the places.
    """
    widest = _cut_out(pictures, centre_pixels(places, pictures.shape), patch * 2 ** (scales - 1))
    glimpses = []
    for scale in range(scales):
        margin = (widest.shape[-1] - patch * 2**scale) // 2
        window = widest[..., margin : widest.shape[-1] - margin, margin : widest.shape[-1] - margin]
        blocks = window.unflatten(-1, (patch, 2**scale)).unflatten(-3, (patch, 2**scale))
        glimpses.append(blocks.mean(dim=(-3, -1)))
    return torch.stack(glimpses, dim=2)


def centre_pixels(places: Places, shape: torch.Size) -> Int[Tensor, "batch path 2"]:
    """Return the corner between four pixels nearest to each place: across from the left, down from the top."""
    height, width = shape[-2:]
    across, down = ((places.detach() + 1) / 2).unbind(dim=-1)
    return torch.stack([across * width, down * height], dim=-1).round().long()


def window_sides(patch: int, scales: int) -> list[int]:
    """Return the side of each of a glimpse's windows, in pixels of the picture."""
    return [patch * 2**scale for scale in range(scales)]


def _cut_out(
    pictures: Pictures, centres: Int[Tensor, "batch path 2"], side: int
) -> Float[Tensor, "batch path side side"]:
    """Cut a square of `side` pixels around each centre, with zeros outside the picture."""
    batch, height, width = pictures.shape
    offsets = torch.arange(side, device=pictures.device) - side // 2
    across, down = (centres.unsqueeze(-1) + offsets).unbind(dim=2)  # each (batch, path, side)
    inside = _within(down, height).unsqueeze(-1) & _within(across, width).unsqueeze(-2)
    rows = torch.arange(batch, device=pictures.device)[:, None, None, None]
    nearest = rows, down.clamp(0, height - 1).unsqueeze(-1), across.clamp(0, width - 1).unsqueeze(-2)
    return pictures[nearest] * inside


def _within(places: Int[Tensor, "batch path side"], end: int) -> Bool[Tensor, "batch path side"]:
    return (places >= 0) & (places < end)
