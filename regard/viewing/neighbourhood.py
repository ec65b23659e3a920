"""A node, the nodes around it and how much they look at each other: which are shown, and where each stands."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from regard.viewing.seen import Block, block_named
from regard.viewing.sides import Nodes

MOST = 60  # nodes around the middle of which the names can still be read


@dataclass(frozen=True)
class Neighbour:
    """One node: how many edges it is from the middle, the class that the model gives it, and the true one if known."""

    name: str
    ring: int
    answer: str = ""
    label: str = ""

    @property
    def is_mistaken(self) -> bool:
        return bool(self.answer and self.label and self.answer != self.label)


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes, the first of them in the middle, and the edges (edge, 2) from each that looks to what it looks at.

    Blocks have weights (head, edge). `hidden` neighbours are not shown, for there are too many of them.
    """

    title: str
    nodes: list[Neighbour]
    edges: np.ndarray
    blocks: list[Block]
    hidden: int = 0

    def __post_init__(self) -> None:
        if any(block.weights.shape[1:] != (len(self.edges),) for block in self.blocks):
            raise ValueError(f"weights do not fit {len(self.edges)} edges")

    @property
    def centre(self) -> Neighbour:
        return self.nodes[0]

    @property
    def classes(self) -> list[str]:
        """The classes that the model gives these nodes, in order of their names."""
        return sorted({node.answer for node in self.nodes if node.answer})

    def weights_of(self, layer: int | None = None, head: int | None = None) -> tuple[int, np.ndarray]:
        """The number of a block, by default the usual one, and its weights (head, edge); a head it lacks is refused."""
        number = block_named(self.blocks, layer, head)
        return number, self.blocks[number - 1].weights


def neighbourhood_of(
    side: Nodes,
    edges: np.ndarray,
    blocks: Sequence[Block],
    centre: int,
    rings: int = 1,
    most: int = MOST,
) -> Neighbourhood:
    """Return the nodes up to `rings` edges around a node; `edges` (2, edge) are the graph's own.

    Where there are more than `most` nodes, those stay that are looked at most: by the mean of all heads.
    """
    strength = np.mean([block.weights.mean(axis=0) for block in blocks], axis=0)
    found = {centre: 0}
    hidden = 0
    for ring in range(1, rings + 1):
        inner = [node for node, own in found.items() if own == ring - 1]
        outward = np.isin(edges[0], inner) & ~np.isin(edges[1], list(found))
        looked_at: dict[int, float] = {}
        for node, weight in zip(edges[1, outward].tolist(), strength[outward].tolist(), strict=True):
            looked_at[node] = max(weight, looked_at.get(node, 0.0))
        kept = sorted(looked_at, key=lambda node: (-looked_at[node], node))[: most + 1 - len(found)]
        hidden += len(looked_at) - len(kept)
        found |= dict.fromkeys(kept, ring)
    lookers = [node for node, ring in found.items() if ring < rings]
    shown = np.flatnonzero(np.isin(edges[0], lookers) & np.isin(edges[1], list(found)))
    place = {node: number for number, node in enumerate(found)}
    return Neighbourhood(
        _title(side, centre),
        [_node(side, node, ring) for node, ring in found.items()],
        np.array([[place[end] for end in edges[:, edge].tolist()] for edge in shown], dtype=int).reshape(-1, 2),
        [Block(block.where, block.weights[:, shown]) for block in blocks],
        hidden,
    )


def _node(side: Nodes, node: int, ring: int) -> Neighbour:
    answer, label = (classes[node] if classes else "" for classes in (side.answers, side.labels))
    return Neighbour(side.names[node], ring, answer, label)


def _title(side: Nodes, centre: int) -> str:
    node = _node(side, centre, 0)
    known = f" (in truth {node.label})" if node.is_mistaken else ""
    return f"Node {node.name}: class {node.answer}{known}" if node.answer else f"Node {node.name}"


def to_json(neighbourhood: Neighbourhood) -> dict[str, Any]:
    """Return the neighbourhood as plain values, with unrounded numbers."""
    return {
        "title": neighbourhood.title,
        "nodes": [asdict(node) for node in neighbourhood.nodes],
        "edges": neighbourhood.edges.tolist(),
        "blocks": [block.to_json() for block in neighbourhood.blocks],
        "hidden": neighbourhood.hidden,
    }


def from_json(value: Mapping[str, Any]) -> Neighbourhood:
    """Return the neighbourhood that `to_json` was given."""
    return Neighbourhood(
        value["title"],
        [Neighbour(**node) for node in value["nodes"]],
        np.array(value["edges"], dtype=int).reshape(-1, 2),
        [Block.from_json(block) for block in value["blocks"]],
        value["hidden"],
    )


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
