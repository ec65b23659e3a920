"""Tallies of sampled choices, for tasks that learn from them."""

import math

from jaxtyping import Bool
from torch import Tensor

from regard.attention.reinforce import Samples
from regard.protocols import Tally, mean


def choice_tallies(surplus: Samples, entropy: Samples, chosen: Bool[Tensor, "row #sample time"]) -> dict[str, Tally]:
    """Return the entropy of a choice, and by how many nats its result differed from the expected one.

    The latter is a root mean square.
    """
    count = chosen.sum() * surplus.shape[1]
    spread, squares = (entropy.detach() * chosen).sum(), (surplus * chosen).square().sum()
    return {"entropy": Tally((spread, count), mean), "surplus": Tally((squares, count), _root_mean)}


def _root_mean(squares: float, count: float) -> float:
    return math.sqrt(mean(squares, count))
