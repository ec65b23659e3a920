"""The values that a kernel drops, recomputed with torch's integers."""

import torch
from torch import Tensor

from regard.kernels.dropping import Dropping


def scrambled(number: Tensor) -> Tensor:
    whole = 0xFFFFFFFF
    number = number ^ (number >> 16)
    number = (number * 0x7FEB352D) & whole
    number = number ^ (number >> 15)
    number = (number * 0x846CA68B) & whole
    return number ^ (number >> 16)


def factors(places: Tensor, dropping: Dropping) -> Tensor:
    """Return zero where a value is dropped and the scale where it is kept."""
    seed, site, threshold, scale = dropping.arguments
    if seed is None:
        return places.new_ones(places.shape, dtype=torch.float32)
    key = scrambled(seed.to(places.device) ^ scrambled(torch.tensor(site, device=places.device)))
    chance = scrambled(scrambled(places.long() & 0xFFFFFFFF) ^ key)
    return (chance >= threshold).float() * scale
