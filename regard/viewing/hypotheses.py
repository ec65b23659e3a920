"""The hypotheses that a beam search kept, as a tree: what each continues, its fate, and its lane.

No two branches overlap and no two lines cross. Every step has a column, and every hypothesis a lane. The best output
runs straight along lane 0, and branches hang below it. Each branch moves up as far as the outlines of its neighbours
allow, after Reingold and Tilford (1981), whose trees grow downwards.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Fate = Literal["won", "kept", "outdone", "continued", "dropped", "open"]
# Descriptions of the fates.
FATES: dict[Fate, str] = {
    "won": "the best output",
    "kept": "finished, one of the best",
    "outdone": "finished, but enough others scored better",
    "continued": "continued",
    "dropped": "dropped, as other hypotheses were more probable",
    "open": "unfinished when the search ended",
}
Outline = tuple[
    list[int], list[int]
]  # the uppermost and the lowest lane in each column, from the branch's first column


@dataclass(frozen=True)
class Node:
    """A hypothesis, represented by its last token."""

    token: str
    parent: int | None  # the place of the node it continues; None for a first token
    log_probability: float  # of the token
    total: float  # of all tokens: the search's ranking
    text: str  # everything written so far
    group: int = 0  # of the beam
    score: float | None = None  # of a finished hypothesis
    rank: int | None = None  # of an output; 1 is the best


@dataclass(frozen=True)
class Tree:
    """Everything that a beam search kept for one sentence; a parent comes before its children."""

    source: str
    width: int
    nodes: Sequence[Node]

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ValueError("a tree without nodes shows nothing")
        if any(node.parent is not None and node.parent >= place for place, node in enumerate(self.nodes)):
            raise ValueError("a parent comes before its children")

    @cached_property
    def steps(self) -> list[int]:
        """Number of tokens of each hypothesis."""
        steps: list[int] = []
        for node in self.nodes:
            steps.append(1 if node.parent is None else steps[node.parent] + 1)
        return steps

    @cached_property
    def children(self) -> dict[int | None, list[int]]:
        """Continuations of each hypothesis; under None, the first tokens."""
        continuations: dict[int | None, list[int]] = {None: [], **{place: [] for place in range(len(self.nodes))}}
        for place, node in enumerate(self.nodes):
            continuations[node.parent].append(place)
        return continuations

    @cached_property
    def fates(self) -> list[Fate]:
        """The fate of each hypothesis.

        If a group of the beam has a further step, it continued its best hypotheses and dropped the others. If it has
        none, the search ended there and left them open.
        """
        positions = [(step, node.group) for step, node in zip(self.steps, self.nodes, strict=True)]
        continuing = {(step - 1, group) for step, group in positions}
        return [self._fate(place, positions[place] in continuing) for place in range(len(self.nodes))]

    def _fate(self, place: int, group_continues: bool) -> Fate:
        node = self.nodes[place]
        if node.score is not None:
            return "outdone" if node.rank is None else "won" if node.rank == 1 else "kept"
        if self.children[place]:
            return "continued"
        return "dropped" if group_continues else "open"

    @cached_property
    def outputs(self) -> list[int]:
        """The finished hypotheses that are outputs of the search, best first."""
        ranked = [(node.rank, place) for place, node in enumerate(self.nodes) if node.rank is not None]
        return [place for _, place in sorted(ranked)]

    def path(self, place: int) -> list[int]:
        """Return the hypotheses that led to this one, from its first token."""
        places: list[int] = []
        at: int | None = place
        while at is not None:
            places.append(at)
            at = self.nodes[at].parent
        return places[::-1]

    @cached_property
    def winning(self) -> frozenset[int]:
        """Hypotheses on the way to the best output."""
        return frozenset(self.path(self.outputs[0])) if self.outputs else frozenset()

    @cached_property
    def lasting(self) -> frozenset[int]:
        """Hypotheses on the way to any output."""
        return frozenset(place for output in self.outputs for place in self.path(output))


def tree_to_json(tree: Tree) -> dict[str, Any]:
    """Return the tree as plain values, with unrounded numbers."""
    return {
        "text": tree.source,
        "width": tree.width,
        "outputs": [
            {"text": tree.nodes[place].text, "score": tree.nodes[place].score, "node": place} for place in tree.outputs
        ],
        "nodes": [
            {
                "token": node.token,
                "parent": node.parent,
                "step": step,
                "group": node.group,
                "log_probability": node.log_probability,
                "total": node.total,
                "score": node.score,
                "rank": node.rank,
                "fate": fate,
                "text": node.text,
            }
            for node, step, fate in zip(tree.nodes, tree.steps, tree.fates, strict=True)
        ],
    }


def lanes(tree: Tree) -> list[int]:
    """Return the lane of each hypothesis; 0 is at the top."""
    order = _ordered_children(tree)
    outlines: dict[int | None, Outline] = {}
    offsets: dict[int, int] = {}
    for place in [*reversed(range(len(tree.nodes))), None]:
        outlines[place] = _hung([(child, outlines.pop(child)) for child in order[place]], offsets)
    result: list[int] = []
    for place, node in enumerate(tree.nodes):
        result.append(offsets[place] + (0 if node.parent is None else result[node.parent]))
    return result


def _ordered_children(tree: Tree) -> dict[int | None, list[int]]:
    """Return the children of each hypothesis: first the one in its own lane, which leads farthest, then by length."""
    best: list[float] = [math.inf if node.rank is None else node.rank for node in tree.nodes]
    last = list(tree.steps)
    for place in reversed(range(len(tree.nodes))):
        if (parent := tree.nodes[place].parent) is not None:
            best[parent] = min(best[parent], best[place])
            last[parent] = max(last[parent], last[place])
    ordered: dict[int | None, list[int]] = {}
    for parent, children in tree.children.items():
        first = sorted(children, key=lambda child: (best[child], -last[child]))[:1]
        ordered[parent] = first + sorted((child for child in children if child not in first), key=last.__getitem__)
    return ordered


def _hung(branches: list[tuple[int, Outline]], offsets: dict[int, int]) -> Outline:
    """Stack branches, record by how many lanes each is lowered, and return the outline including their parent."""
    upper: list[int] = []
    lower: list[int] = []
    for child, (top, bottom) in branches:
        shift = max((above - below + 1 for above, below in zip(lower, top, strict=False)), default=0)
        offsets[child] = shift
        upper += [lane + shift for lane in top[len(upper) :]]
        lower = [lane + shift for lane in bottom] + lower[len(bottom) :]
    return [0, *upper], [0, *lower]
