"""Ways to fill the masks of a text; imports no torch."""

import heapq
from collections.abc import Sequence

SHOWN = 10  # ways to fill the masks of a text that are shown


def best_ways(names: Sequence[Sequence[str]], probabilities: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the most probable ways to fill masks, treated as independent, best first."""
    ways = {"": 1.0}
    for tokens, shares in zip(names, probabilities, strict=True):
        longer = {
            f"{way} {name}".strip(): before * after
            for way, before in ways.items()
            for name, after in zip(tokens, shares, strict=True)
        }
        ways = dict(heapq.nlargest(SHOWN, longer.items(), key=lambda way: way[1]))
    return ways
