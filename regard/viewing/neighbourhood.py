"""A node, the nodes around it and the attention between them: which are shown, and where."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from regard.viewing.seen import Block, block_named
from regard.viewing.sides import Nodes

MOST = 60  # nodes around the centre up to which names are readable


@dataclass(frozen=True)
class Neighbour:
    """A node: its distance from the centre in edges, the class that the model gives it, and the true one if known."""

    name: str
    ring: int
    answer: str = ""
    label: str = ""

    @property
    def is_mistaken(self) -> bool:
        return bool(self.answer and self.label and self.answer != self.label)


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes, the first of them in the centre, and the edges (edge, 2) from query to key.

    Blocks have weights (head, edge). `hidden` is the number of neighbours not shown because there are too many.
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
        """The classes that the model gives these nodes, sorted by name."""
        return sorted({node.answer for node in self.nodes if node.answer})

    def weights_of(self, layer: int | None = None, head: int | None = None) -> tuple[int, np.ndarray]:
        """Return the number of a block, or of the default one, and its weights (head, edge); refuse a missing head."""
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
    """Return the nodes up to `rings` edges around a node; `edges` (2, edge) are those of the whole graph.

    If there are more than `most` nodes, those with the largest weights stay, by the mean of all heads.
    """
    strength = np.mean([block.weights.mean(axis=0) for block in blocks], axis=0)
    ring_of = {centre: 0}
    hidden = 0
    for ring in range(1, rings + 1):
        inner = [node for node, node_ring in ring_of.items() if node_ring == ring - 1]
        outward = np.isin(edges[0], inner) & ~np.isin(edges[1], list(ring_of))
        strongest: dict[int, float] = {}
        for node, weight in zip(edges[1, outward].tolist(), strength[outward].tolist(), strict=True):
            strongest[node] = max(weight, strongest.get(node, 0.0))
        chosen = sorted(strongest, key=lambda node: (-strongest[node], node))[: most + 1 - len(ring_of)]
        hidden += len(strongest) - len(chosen)
        ring_of |= dict.fromkeys(chosen, ring)
    queries = [node for node, ring in ring_of.items() if ring < rings]
    visible = np.flatnonzero(np.isin(edges[0], queries) & np.isin(edges[1], list(ring_of)))
    place = {node: number for number, node in enumerate(ring_of)}
    return Neighbourhood(
        _title(side, centre),
        [_node(side, node, ring) for node, ring in ring_of.items()],
        np.array([[place[end] for end in edges[:, edge].tolist()] for edge in visible], dtype=int).reshape(-1, 2),
        [Block(block.where, block.weights[:, visible]) for block in blocks],
        hidden,
    )


def _node(side: Nodes, node: int, ring: int) -> Neighbour:
    answer, label = (classes[node] if classes else "" for classes in (side.answers, side.labels))
    return Neighbour(side.names[node], ring, answer, label)


def _title(side: Nodes, centre: int) -> str:
    node = _node(side, centre, 0)
    truth = f" (true class {node.label})" if node.is_mistaken else ""
    return f"Node {node.name}: class {node.answer}{truth}" if node.answer else f"Node {node.name}"


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
    """Places (node, 2) in a circle of radius 1, across and up; the centre's attention to itself ends at `itself`.

    `outward` (edge) marks the edges that lead straight out, which are drawn head by head; others would cross them.
    `room` is how wide a bundle of lines may be halfway to the first ring without touching its neighbours.
    """

    places: np.ndarray
    itself: tuple[float, float] | None
    outward: list[bool]
    room: float


def lay_out(neighbourhood: Neighbourhood) -> GraphLayout:
    """Place the nodes of the first ring by class, clockwise from the top, and farther ones behind the nearer.

    The centre's attention to itself is on the ring too, at the top, so that it is read like the others.
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
    """Return, for each node of the first ring, the nodes of the second ring to which it attends most strongly."""
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
    """Return a place on a circle: turn 0 is the top, a quarter is the right."""
    return radius * math.sin(2 * math.pi * turn), radius * math.cos(2 * math.pi * turn)


def strand(start: np.ndarray, end: np.ndarray, head: int, heads: int, room: float) -> np.ndarray:
    """Return a curve from start to end as three points of a quadratic curve; the heads' curves share `room`."""
    along = end - start
    length = float(np.hypot(*along)) or 1.0
    across = np.array([-along[1], along[0]]) / length
    offset = (head - (heads - 1) / 2) / heads * room
    return np.stack([start, (start + end) / 2 + 2 * offset * across, end])
