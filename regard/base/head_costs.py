"""Depth of attention heads and cost of attention; without torch, so that an unloaded model can be described."""

from typing import Literal, NamedTuple

Join = Literal["concatenated", "averaged"]


class Depths(NamedTuple):
    """Number of values in a key and in a value of one head."""

    key: int
    value: int


def head_depths(width: int, heads: int, join: Join, shared_key_value: bool) -> Depths:
    """Return the depths of heads that divide a width, or whose values have all of it if they are averaged."""
    value = width if join == "averaged" else width // heads
    return Depths(value if shared_key_value else width // heads, value)


def looking_cost(heads: int, key_value_heads: int, depths: Depths, score: str, length: int) -> int:
    """Return the cost of attention from `length` places to as many, without projections: scores, then mixing."""
    # The inner width of an additive score equals the depth, so a pair costs the same as with a product.
    pairs = length**2 * heads * (depths.key + depths.value)
    shared = {"bilinear": key_value_heads, "additive": heads + key_value_heads}.get(score, 0)
    return pairs + length * shared * depths.key**2
