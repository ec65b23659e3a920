"""Dropout whose mask is a function of a seed and a place, so that a backward pass can make it again."""

from dataclasses import dataclass
from itertools import count

import torch
import triton
import triton.language as tl
from torch import Tensor


@dataclass(frozen=True)
class Dropping:
    """One dropout: its share of the values, its seed, and its number among dropouts with that seed.

    The seed is a number on the device, so that a captured pass can be replayed with another.
    """

    share: float = 0.0
    seed: Tensor | None = None
    site: int = 0

    @property
    def arguments(self) -> tuple[Tensor | None, int, int, float]:
        """Arguments of a kernel: seed, site, threshold of what is dropped, and scale of the rest."""
        return self.seed, self.site, int(self.share * 2**32), 1 / (1 - self.share)


class Chances:
    """The dropouts of one pass, by one seed that torch's generator draws."""

    def __init__(self, device: torch.device) -> None:
        self._seed, self._sites = torch.randint(2**31, (1,), device=device), count()

    def dropping(self, share: float) -> Dropping:
        """The next of them."""
        return Dropping(share, self._seed, next(self._sites)) if share else Dropping()


@triton.jit
def scrambled(number):
    """A bijection of 32-bit numbers in which every bit of the input moves about half of those of the output."""
    number ^= number >> 16
    number *= 0x7FEB352D
    number ^= number >> 15
    number *= 0x846CA68B
    return number ^ (number >> 16)


@triton.jit
def dropped(values, places, seed, site, threshold, scale):
    """The values with some of them zero, by the seed, the site and their places, and the others scaled."""
    key = scrambled(tl.load(seed).to(tl.uint32) ^ scrambled(site.to(tl.uint32)))
    chance = scrambled(scrambled(places.to(tl.uint32)) ^ key)
    return tl.where(chance >= threshold.to(tl.uint32), values * scale, 0.0)
