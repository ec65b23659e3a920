"""A node, the nodes around it, and the weights with which they look at each other along edges."""

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
    """What lies up to `rings` edges around a node, of which `edges` (2, edge) says who looks at whom in the graph.

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
    """The same as plain values, every number as it is."""
    return {
        "title": neighbourhood.title,
        "nodes": [asdict(node) for node in neighbourhood.nodes],
        "edges": neighbourhood.edges.tolist(),
        "blocks": [block.to_json() for block in neighbourhood.blocks],
        "hidden": neighbourhood.hidden,
    }


def from_json(value: Mapping[str, Any]) -> Neighbourhood:
    """What `to_json` was given."""
    return Neighbourhood(
        value["title"],
        [Neighbour(**node) for node in value["nodes"]],
        np.array(value["edges"], dtype=int).reshape(-1, 2),
        [Block.from_json(block) for block in value["blocks"]],
        value["hidden"],
    )
