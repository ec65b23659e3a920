"""All attention of one side of a model: its blocks, their heads, and the words between which they look."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from regard.base.faults import Fault
from regard.base.notebook import Pictured
from regard.viewing.matrix import Matrix

Joining = Literal["mean", "max"]

# How to join the heads of a block, (head, row, column) to (row, column), and the name of the result.
JOININGS: dict[Joining, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "mean": (lambda weights: weights.mean(axis=0), "mean"),
    "max": (lambda weights: weights.max(axis=0), "maximum"),
}


@dataclass(frozen=True)
class Block:
    """An attention module: its path in the network, and the weights of its heads (head, row, column).

    In a graph, the weights are (head, edge).
    """

    where: str
    weights: np.ndarray

    @property
    def heads(self) -> int:
        return int(self.weights.shape[0])

    def to_json(self) -> dict[str, Any]:
        """Return the block as plain values, with unrounded numbers."""
        return {"where": self.where, "weights": self.weights.tolist()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Block":
        """Return the block that `to_json` was given."""
        return cls(value["where"], np.array(value["weights"]))


# Meaning of the rows and columns of a side; models that write nothing attend within what they read.
AXES = {
    "cross": ("written", "read"),
    "copying": ("written", "read"),
    "encoder": ("read", "read"),
    "decoder": ("written", "written"),
}


def axes_of(side: str) -> tuple[str, str]:
    """Return the meaning of a side's rows and columns, from its name or its two ends, such as "target to turns"."""
    rows, _, columns = side.partition(" to ")
    ends = tuple("written" if end == "target" else "read" for end in (rows, columns))
    return AXES.get(side, (ends[0], ends[1]))


@dataclass(frozen=True)
class Seen(Pictured):
    """Attention of every block and head of one side; blocks may differ in their number of heads."""

    side: str
    output: str
    rows: list[str]
    columns: list[str]
    blocks: list[Block]

    def __post_init__(self) -> None:
        if not self.blocks:
            raise ValueError(f"nothing was seen on the side '{self.side}'")

    def __repr__(self) -> str:
        return f"Seen({self.side}: {len(self.rows)} look at {len(self.columns)}, {_sizes(self.heads)})"

    @property
    def heads(self) -> list[int]:
        """Number of heads of each block."""
        return [block.heads for block in self.blocks]

    @property
    def usual(self) -> int:
        """The default block to show, counted from 1."""
        return block_named(self.blocks)

    def one(self, layer: int | None = None, head: int | None = None, heads: Joining = "mean") -> Matrix:
        """Return the matrix of one block, by default the usual one, and one of its heads, or all of them joined."""
        number = block_named(self.blocks, layer, head)
        block = self.blocks[number - 1]
        if head:
            return self._matrix([self.side, *self._name_parts(number, f"head {head}")], block.weights[head - 1])
        join, name = JOININGS[heads]
        joined = f"{name} of {block.heads} heads"
        return self._matrix([self.side, *self._name_parts(number, joined)], join(block.weights))

    def every(self) -> list[Matrix]:
        """Return the matrices of all blocks and heads, block by block; their titles omit the side, as all share it."""
        return [
            self._matrix(self._name_parts(number, f"head {head}") or [self.side], weights)
            for number, block in enumerate(self.blocks, 1)
            for head, weights in enumerate(block.weights, 1)
        ]

    def _name_parts(self, number: int, which: str) -> list[str]:
        """Return the parts of a title that distinguish a matrix; a single block or head is not named."""
        return [f"block {number}"] * (len(self.blocks) > 1) + [which] * (max(self.heads) > 1)

    def _matrix(self, title: list[str], weights: np.ndarray) -> Matrix:
        return Matrix(", ".join(title), self.rows, self.columns, weights, axes_of(self.side))


def joined_weights(
    blocks: Sequence[Block], layer: int | None = None, head: int | None = None, heads: Joining = "mean"
) -> tuple[str, np.ndarray]:
    """Return a title and the weights (row, column) of one block and head, or of all its heads joined."""
    number = block_named(blocks, layer, head)
    block = blocks[number - 1]
    join, name = JOININGS[heads]
    which = f"head {head}" if head else f"{name} of {block.heads} heads"
    parts = [f"block {number}"] * (len(blocks) > 1) + [which] * (block.heads > 1)
    return ", ".join(parts), block.weights[head - 1] if head else join(block.weights)


def block_named(blocks: Sequence[Block], layer: int | None = None, head: int | None = None) -> int:
    """Return the number of a block, counted from 1; refuse a missing block or head.

    The default is the second to last, which aligns best in translation models of several sizes (Garg et al. 2019,
    section 4.1).
    """
    number = layer or max(1, len(blocks) - 1)
    if number > len(blocks) or (head or 1) > blocks[number - 1].heads:
        raise Fault(f"This model has {_sizes([block.heads for block in blocks])} on that side.")
    return number


def _sizes(heads: Sequence[int]) -> str:
    if len(heads) == 1:
        return f"1 block of {_heads(heads[0])}"
    if len(set(heads)) == 1:
        return f"{len(heads)} blocks of {_heads(heads[0])}"
    return f"{len(heads)} blocks of {', '.join(map(str, heads))} heads"


def _heads(count: int) -> str:
    return "1 head" if count == 1 else f"{count} heads"
