"""Figures on sampled choices, for every task that learns from them."""

import math

from jaxtyping import Bool
from torch import Tensor

from regard.attention.reinforce import Samples
from regard.protocols import Tally, mean


def choice_tallies(surplus: Samples, entropy: Samples, chosen: Bool[Tensor, "row #sample time"]) -> dict[str, Tally]:
    """The entropy of a choice, and by how many nats what followed it differed from what was expected.

    The latter as a root of mean squares.
    """
    count = chosen.sum() * surplus.shape[1]
    spread, squares = (entropy.detach() * chosen).sum(), (surplus * chosen).square().sum()
    return {"entropy": Tally((spread, count), mean), "surplus": Tally((squares, count), _root_mean)}


def _root_mean(squares: float, count: float) -> float:
    return math.sqrt(mean(squares, count))
