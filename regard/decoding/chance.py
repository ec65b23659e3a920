"""Random numbers for sampling, each a pure function of the seed, the line, the sample and the step.

A generator gives its numbers in sequence, so one sentence's draws would depend on earlier ones. Here a number is a
hash of its key, computed in integers: the same on every device, in any batch and any order.
"""

import torch
from torch import Tensor

GOLDEN, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def uniform(seed: int, *keys: Tensor) -> Tensor:
    """Return a number in [0, 1) with 53 random bits for each place of the keys, which are integers of one shape.

    SplitMix64 (Steele, Lea and Flood 2014) starts at the seed; each key in turn selects the number of the current
    stream that starts the next stream.
    """
    state = torch.full_like(keys[0], _to_signed(seed))
    for key in keys:
        state = _mix(state + (key + 1) * _to_signed(GOLDEN))
    return _shift(state, 11).double() * 2.0**-53


def _mix(word: Tensor) -> Tensor:
    """SplitMix64's output function; 64-bit products wrap around, as they do in C."""
    word = (word ^ _shift(word, 30)) * _to_signed(FIRST)
    word = (word ^ _shift(word, 27)) * _to_signed(SECOND)
    return word ^ _shift(word, 31)


def _shift(word: Tensor, bits: int) -> Tensor:
    """Shift to the right and fill with zeros; torch's own shift copies the sign."""
    return (word >> bits) & ((1 << (64 - bits)) - 1)


def _to_signed(word: int) -> int:
    """Return the same 64 bits as a signed number, as tensors hold them."""
    return (word + 2**63) % 2**64 - 2**63
