"""Attention through all blocks as a graph: rollout and flow from a place of the output to the units of the input.

Each block's weights and its residual connection are edges, Â = (A + I) / 2 (Abnar and Zuidema 2020). A decoder block
has two steps, from the target to itself and from the target to the source.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.base.faults import Fault
from regard.base.pauses import between_steps

MOST_PLACES = 48  # of one level; the time of flow grows fast


@dataclass(frozen=True)
class Step:
    """Edges from one level of places down to others: shares (from, to) of levels by number; a row sums to one."""

    upper: int
    shares: dict[int, np.ndarray]


@dataclass(frozen=True)
class AttentionGraph:
    """Levels of places, counted from the input up, and the steps between them in that order.

    Level 0 holds the units; the last level holds the places that decide.
    """

    sizes: Sequence[int]
    steps: Sequence[Step]

    def rollout(self) -> np.ndarray:
        """Return what reaches each place of the last level from each unit: products of shares, summed over paths."""
        reached = [np.zeros((size, self.sizes[0])) for size in self.sizes]
        reached[0] = np.eye(self.sizes[0])
        for step in self.steps:
            for lower, shares in step.shares.items():
                reached[step.upper] += shares @ reached[lower]
        return reached[-1]

    def flow(self, place: int) -> np.ndarray:
        """Return the maximum flow from a place of the last level to each unit, with shares as capacities."""
        if max(self.sizes) > MOST_PLACES:
            raise Fault(f"Flow is found for at most {MOST_PLACES} places; shorten the input, or use rollout.")
        firsts = np.cumsum([0, *self.sizes])
        capacity = np.zeros((firsts[-1], firsts[-1]))
        for step in self.steps:
            rows = slice(firsts[step.upper], firsts[step.upper + 1])
            for lower, shares in step.shares.items():
                capacity[rows, firsts[lower] : firsts[lower + 1]] = shares
        source = int(firsts[-2]) + place
        found = []
        for unit in range(self.sizes[0]):
            between_steps()  # each takes a while
            found.append(maximum_flow(capacity, source, unit))
        return np.array(found)


def self_graph(blocks: Sequence[np.ndarray]) -> AttentionGraph:
    """Return the graph of a stack of blocks, whose weights (place, place) are the mean of their heads."""
    count = len(blocks[0])
    halves = [(weights + np.eye(count)) / 2 for weights in blocks]
    steps = [Step(number, {number - 1: half}) for number, half in enumerate(halves, 1)]
    return AttentionGraph([count] * (len(blocks) + 1), steps)


def pooled_graph(blocks: Sequence[np.ndarray], pooling: np.ndarray) -> AttentionGraph:
    """Return the graph of a stack of blocks with a look (answer, place) at its last states."""
    below = self_graph(blocks) if blocks else AttentionGraph([pooling.shape[1]], [])
    top = len(below.sizes)
    return AttentionGraph([*below.sizes, len(pooling)], [*below.steps, Step(top, {top - 1: pooling})])


def decoder_graph(
    encoder: Sequence[np.ndarray], decoder: Sequence[np.ndarray], cross: Sequence[np.ndarray]
) -> AttentionGraph:
    """Return the graph of an encoder and a decoder; the tokens that the decoder reads are a level without edges."""
    below = self_graph(encoder) if encoder else AttentionGraph([cross[0].shape[1]], [])
    sizes, steps, top = list(below.sizes), list(below.steps), len(below.sizes) - 1
    count = len(cross[0])
    sizes.append(count)
    for within, across in zip(decoder, cross, strict=True):
        level = len(sizes)
        steps.append(Step(level, {level - 1: (within + np.eye(count)) / 2}))
        steps.append(Step(level + 1, {top: across / 2, level: np.eye(count) / 2}))
        sizes += [count, count]
    return AttentionGraph(sizes, steps)


def maximum_flow(capacity: np.ndarray, source: int, sink: int) -> float:
    """Return the maximum flow between two nodes, by shortest augmenting paths (Edmonds and Karp 1972)."""
    left, total = capacity.copy(), 0.0
    while path := _shortest_path(left, source, sink):
        before, behind = np.array(path[:-1]), np.array(path[1:])
        amount = float(left[before, behind].min())
        left[before, behind] -= amount
        left[behind, before] += amount
        total += amount
    return total


def _shortest_path(left: np.ndarray, source: int, sink: int) -> list[int]:
    """Return the nodes of a shortest path with capacity left, or nothing."""
    origin = np.full(len(left), -1)
    origin[source], ring = source, np.array([source])
    while origin[sink] < 0 and len(ring):
        is_open = (left[ring] > 1e-12) & (origin < 0)
        found = is_open.any(axis=0)
        origin[found] = ring[is_open.argmax(axis=0)[found]]
        ring = np.flatnonzero(found)
    if origin[sink] < 0:
        return []
    path = [sink]
    while path[-1] != source:
        path.append(int(origin[path[-1]]))
    return path[::-1]
