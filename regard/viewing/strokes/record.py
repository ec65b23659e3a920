"""A drawing, and what each of its points looked at: weights over the points before it, or over all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.viewing.seen import Block, Joining, joined_weights


@dataclass(frozen=True)
class StrokeLooks:
    """Points (point, 2), to the right and down, whether a stroke ends at each, and blocks (head, point, point).

    From each point a model that draws looks for the next one, at itself and at those before it; from the last, where
    the drawing ends, nothing looks on, so that there may be a point more than in the blocks. A model that reads the
    whole drawing looks ahead too.
    """

    title: str
    points: np.ndarray
    ends: np.ndarray
    blocks: list[Block]

    def __post_init__(self) -> None:
        for block in self.blocks:
            if block.weights.shape[1:] != (self.looking, self.looking) or self.looking > len(self.points):
                raise ValueError(f"weights of shape {block.weights.shape} do not fit {len(self.points)} points")

    @property
    def looking(self) -> int:
        """How many points look, from the first on."""
        return self.blocks[0].weights.shape[1]

    @property
    def looks_ahead(self) -> bool:
        """Whether any point looks at a later one."""
        return any(np.triu(block.weights, 1).any() for block in self.blocks)

    def reach(self, place: int) -> int:
        """The number of the last point that may be looked at from a place."""
        return self.looking - 1 if self.looks_ahead else place

    def one(self, layer: int | None = None, head: int | None = None, heads: Joining = "mean") -> tuple[str, np.ndarray]:
        """What is shown in words, and its weights (point, point): of one head, or of all heads joined."""
        return joined_weights(self.blocks, layer, head, heads)

    def strokes(self) -> list[np.ndarray]:
        """The numbers of the points of each stroke."""
        return [part for part in np.split(np.arange(len(self.points)), np.flatnonzero(self.ends) + 1) if len(part)]


def to_json(looks: StrokeLooks) -> dict[str, Any]:
    """The same as plain values, every number as it is."""
    return {
        "title": looks.title,
        "points": looks.points.tolist(),
        "ends": looks.ends.tolist(),
        "blocks": [block.to_json() for block in looks.blocks],
    }


def from_json(value: Mapping[str, Any]) -> StrokeLooks:
    """What `to_json` was given."""
    blocks = [Block.from_json(block) for block in value["blocks"]]
    return StrokeLooks(value["title"], np.array(value["points"]), np.array(value["ends"]), blocks)
