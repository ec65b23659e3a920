"""Where the nodes of a neighbourhood stand: the one in the middle, the others on rings around it."""

import math
from dataclasses import dataclass

import numpy as np

from regard.viewing.graph.record import Neighbourhood


@dataclass(frozen=True)
class GraphLayout:
    """Places (node, 2) in a circle of radius 1, across and up; the middle's look at itself ends at `itself`.

    `outward` (edge) tells the looks that lead straight out, which are drawn head by head, from those that would cross
    others. `room` is how wide a bundle of lines may be halfway out to the first ring before it touches its neighbours'.
    """

    places: np.ndarray
    itself: tuple[float, float] | None
    outward: list[bool]
    room: float


def lay_out(neighbourhood: Neighbourhood) -> GraphLayout:
    """Nodes of the first ring in order of their classes, clockwise from the top; farther ones behind the nearer.

    What the node in the middle keeps of itself stands on the ring too, at the top, so that it is read like the others.
    """
    nodes, edges = neighbourhood.nodes, neighbourhood.edges.tolist()
    rings = max(1, *(node.ring for node in nodes))
    order = sorted((node.answer, place) for place, node in enumerate(nodes) if node.ring == 1)
    behind = _parents(neighbourhood)
    looks_at_itself = [0, 0] in edges
    shares = [1] * looks_at_itself + [max(1, len(behind[place])) for _, place in order]
    places = np.zeros((len(nodes), 2))
    turn = -0.5 * shares[0] if shares else 0.0
    itself = None
    for place, share in zip([None] * looks_at_itself + [place for _, place in order], shares, strict=True):
        middle = (turn + share / 2) / sum(shares)
        if place is None:
            itself = _on_circle(middle, 1 / rings)
        else:
            places[place] = _on_circle(middle, 1 / rings)
            for number, child in enumerate(behind[place]):
                places[child] = _on_circle((turn + number + 0.5) / sum(shares), 1.0)
        turn += share
    outward = [looks_from == 0 or looks_at in behind.get(looks_from, []) for looks_from, looks_at in edges]
    return GraphLayout(places, itself, outward, math.pi / rings / max(1, len(shares)))


def _parents(neighbourhood: Neighbourhood) -> dict[int, list[int]]:
    """For each node of the first ring those of the second that stand behind it, each behind who looks at it most."""
    nodes = neighbourhood.nodes
    strength = np.mean([block.weights.mean(axis=0) for block in neighbourhood.blocks], axis=0)
    best: dict[int, tuple[float, int]] = {}
    for (looks_from, looks_at), weight in zip(neighbourhood.edges.tolist(), strength.tolist(), strict=True):
        if nodes[looks_from].ring == 1 and nodes[looks_at].ring == 2:
            best[looks_at] = max((weight, looks_from), best.get(looks_at, (-1.0, 0)))
    return {
        place: [child for child, (_, parent) in best.items() if parent == place]
        for place, node in enumerate(nodes)
        if node.ring == 1
    }


def _on_circle(turn: float, radius: float) -> tuple[float, float]:
    """A place on a circle: no turn is its top, a quarter its right."""
    return radius * math.sin(2 * math.pi * turn), radius * math.cos(2 * math.pi * turn)


def strand(start: np.ndarray, end: np.ndarray, head: int, heads: int, room: float) -> np.ndarray:
    """A bow from start to end as three points of a quadratic curve; the heads' bows lie side by side in `room`."""
    along = end - start
    length = float(np.hypot(*along)) or 1.0
    across = np.array([-along[1], along[0]]) / length
    offset = (head - (heads - 1) / 2) / heads * room
    return np.stack([start, (start + end) / 2 + 2 * offset * across, end])
