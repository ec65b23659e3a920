"""Attention between two sides, independent of how it is drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from regard.viewing.seen import Block, Seen
from regard.viewing.sides import Cells, Facts, Frames, Nodes, Side, Slots, Steps, Strokes, Video, Words

Manner = Literal["weights", "edges", "windows"]


@dataclass(frozen=True)
class LooksBetween:
    """All attention from one side to another while one input was read.

    - weights: blocks of (head, row, column)
    - edges: blocks of (head, edge), and `edges` (2, edge), from query to key
    - windows: their centres (step, 2) and extents (step, scale) in pixels
    """

    name: str  # such as "cross" or "nodes to nodes"
    text: str  # the input
    output: str  # the model's output
    looks_from: Side
    looks_at: Side
    blocks: Sequence[Block] = ()
    edges: np.ndarray | None = None
    windows: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def manner(self) -> Manner:
        return "windows" if self.windows else "weights" if self.edges is None else "edges"

    @property
    def title(self) -> str:
        return f"{self.text}: {self.output}" if self.output else self.text


def seen_between(looks: LooksBetween, by_word: bool = True) -> Seen:
    """Return the attention between two texts, by words or by tokens."""
    rows, row_places = places_along(looks.looks_from, looks.looks_at, by_word)
    columns, column_places = places_along(looks.looks_at, looks.looks_from, by_word)
    # Summed over the tokens of a word that is attended to, averaged over those of one that attends.
    blocks = [
        Block(block.where, word_means(row_places) @ block.weights @ (word_means(column_places) > 0).T.astype(float))
        for block in looks.blocks
    ]
    return Seen(looks.name, looks.output, rows, columns, blocks)


def places_along(side: Side, other: Side, by_word: bool) -> tuple[list[str], list[int]]:
    """Return the labels of an axis, and for each place of the attention the label it belongs to."""
    if isinstance(side, Steps):
        return list(side.names), list(range(len(side.names)))
    if isinstance(side, Frames):
        return [f"{frame * side.seconds:.2f}" for frame in range(side.count)], list(range(side.count))
    if not isinstance(side, Words):
        raise TypeError(f"{type(side).__name__} cannot stand along an axis")
    if side is other and side.as_read:
        side = side.as_read
    if by_word:
        return list(side.words), list(side.places)
    return list(side.tokens), list(range(len(side.tokens)))


def names_along(side: Side, other: Side) -> list[str]:
    """Return the name of each place along a side: a token, step, frame, node, fact or slot; cells and points have none.

    A kind of side from a plugin may have `names`.
    """
    if not isinstance(side, Side):
        return list(getattr(side, "names", ()))
    if isinstance(side, Nodes):
        return list(side.names)
    if isinstance(side, Facts):
        return list(side.lines)
    if isinstance(side, Slots):
        return [f"slot {number}" for number in range(side.count)]
    if isinstance(side, Video):
        return [f"frame {number}" for number in range(1, len(side.frames) + 1)]
    return [] if isinstance(side, Cells | Strokes) else places_along(side, other, by_word=False)[0]


def word_means(places: Sequence[int]) -> np.ndarray:
    """Return a matrix (place, token) that averages token values by place; a place without tokens gets zeros."""
    belongs = np.arange(max(places) + 1)[:, None] == np.array(places)
    return belongs / np.maximum(belongs.sum(axis=1, keepdims=True), 1)
