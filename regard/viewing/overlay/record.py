"""What words or steps looked at in a picture: weights over a grid of cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.viewing.seen import Block, Joining, joined_weights


@dataclass(frozen=True)
class Overlay:
    """A picture, grey or in colours from 0 to 1, under grid[0] rows of grid[1] cells, and what each step looked at.

    Blocks have weights (head, step, cell), cells row after row. The steps may be the cells themselves.
    """

    title: str
    picture: np.ndarray
    grid: tuple[int, int]
    steps: list[str]
    blocks: list[Block]
    steps_are_cells: bool = False

    def __post_init__(self) -> None:
        rows, columns = self.grid
        for block in self.blocks:
            if block.weights.shape[1:] != (len(self.steps), rows * columns):
                steps, shape = len(self.steps), block.weights.shape
                raise ValueError(f"weights of shape {shape} do not fit {steps} steps and {rows} × {columns} cells")

    def one(self, layer: int | None = None, head: int | None = None, heads: Joining = "mean") -> tuple[str, np.ndarray]:
        """What is shown in words, and its weights (step, row, column): of one head, or of all heads joined."""
        which, weights = joined_weights(self.blocks, layer, head, heads)
        return which, weights.reshape(len(self.steps), *self.grid)


def to_json(overlay: Overlay) -> dict[str, Any]:
    """The same as plain values, every number as it is."""
    return {
        "title": overlay.title,
        "picture": overlay.picture.tolist(),
        "grid": list(overlay.grid),
        "steps": list(overlay.steps),
        "steps_are_cells": overlay.steps_are_cells,
        "blocks": [block.to_json() for block in overlay.blocks],
    }


def from_json(value: Mapping[str, Any]) -> Overlay:
    """What `to_json` was given."""
    blocks = [Block.from_json(block) for block in value["blocks"]]
    rows, columns = value["grid"]
    picture, are_cells = np.array(value["picture"]), value.get("steps_are_cells", False)
    return Overlay(value["title"], picture, (rows, columns), value["steps"], blocks, are_cells)
