"""The depth of attention heads and the cost of looking; no torch, so that an unloaded model can be described."""

from typing import Literal, NamedTuple

Join = Literal["concatenated", "averaged"]


class Depths(NamedTuple):
    """Return how many numbers a key and a value of one head have."""

    key: int
    value: int


def head_depths(width: int, heads: int, join: Join, shared_key_value: bool) -> Depths:
    """Return the depths of heads that share out a width, or, where they are averaged, have values of all of it."""
    value = width if join == "averaged" else width // heads
    return Depths(value if shared_key_value else width // heads, value)


def looking_cost(heads: int, key_value_heads: int, depths: Depths, score: str, length: int) -> int:
    """Return what looking from `length` places at as many takes, beside projections: the scores, then the mixing."""
    # The inner width of an additive score is the depth, so a pair costs it what it costs a product.
    pairs = length**2 * heads * (depths.key + depths.value)
    shared = {"bilinear": key_value_heads, "additive": heads + key_value_heads}.get(score, 0)
    return pairs + length * shared * depths.key**2
