"""Dropout whose mask is a function of a seed and a place, so that the backward pass can compute it again."""

from dataclasses import dataclass
from itertools import count

import torch
import triton
import triton.language as tl
from torch import Tensor


@dataclass(frozen=True)
class Dropping:
    """One dropout: its share of the values, its seed, and its number among the dropouts with that seed.

    The seed is a number on the device, so that a captured pass can be replayed with another seed.
    """

    share: float = 0.0
    seed: Tensor | None = None
    site: int = 0

    @property
    def arguments(self) -> tuple[Tensor | None, int, int, float]:
        """Arguments of a kernel: seed, site, threshold for dropping, and scale of the remaining values."""
        return self.seed, self.site, int(self.share * 2**32), 1 / (1 - self.share)


class Chances:
    """The dropouts of one pass, by one seed from torch's generator."""

    def __init__(self, device: torch.device) -> None:
        self._seed, self._sites = torch.randint(2**31, (1,), device=device), count()

    def dropping(self, share: float) -> Dropping:
        """Return the next dropout."""
        return Dropping(share, self._seed, next(self._sites)) if share else Dropping()


@triton.jit
def scrambled(number):
    """A bijection of 32-bit numbers in which every input bit changes about half of the output bits."""
    number ^= number >> 16
    number *= 0x7FEB352D
    number ^= number >> 15
    number *= 0x846CA68B
    return number ^ (number >> 16)


@triton.jit
def dropped(values, places, seed, site, threshold, scale):
    """Set some of the values to zero, by the seed, the site and their places, and scale the others."""
    key = scrambled(tl.load(seed).to(tl.uint32) ^ scrambled(site.to(tl.uint32)))
    chance = scrambled(scrambled(places.to(tl.uint32)) ^ key)
    return tl.where(chance >= threshold.to(tl.uint32), values * scale, 0.0)
