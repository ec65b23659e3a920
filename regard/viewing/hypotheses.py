"""The hypotheses that a beam search kept, as a tree: what each continues, what became of it, and its lane.

No two branches lie on each other and no two lines cross. Time runs along; every step has its column, and every
hypothesis a lane. The best output runs straight along lane 0, and what branches off hangs below it. Each branch moves
up to its neighbours as far as their outlines allow, after Reingold and Tilford (1981), whose trees grow downwards.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Fate = Literal["won", "kept", "outdone", "continued", "dropped", "open"]
# What became of a hypothesis, in words.
FATES: dict[Fate, str] = {
    "won": "the best output",
    "kept": "finished, one of the best",
    "outdone": "finished, but enough others scored better",
    "continued": "went on",
    "dropped": "dropped, as other hypotheses were more probable",
    "open": "unfinished when the search was over",
}
Outline = tuple[list[int], list[int]]  # the uppermost and the lowest lane in each column, from the branch's first on


@dataclass(frozen=True)
class Node:
    """A hypothesis, by the last of its tokens."""

    token: str
    parent: int | None  # the place among the nodes of what it continues; none where nothing was written before
    log_probability: float  # of the token
    total: float  # of all tokens: what the search ranked by
    text: str  # all that is written so far
    group: int = 0  # of the beam
    score: float | None = None  # of a finished hypothesis
    rank: int | None = None  # of an output; 1 is the best


@dataclass(frozen=True)
class Tree:
    """All that a beam search kept for one sentence; a parent stands before its children."""

    source: str
    width: int
    nodes: Sequence[Node]

    def __post_init__(self) -> None:
        if not self.nodes:
            raise ValueError("a tree without nodes shows nothing")
        if any(node.parent is not None and node.parent >= place for place, node in enumerate(self.nodes)):
            raise ValueError("a parent stands before its children")

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
        found: dict[int | None, list[int]] = {None: [], **{place: [] for place in range(len(self.nodes))}}
        for place, node in enumerate(self.nodes):
            found[node.parent].append(place)
        return found

    @cached_property
    def fates(self) -> list[Fate]:
        """The fate of each hypothesis.

        A group of the beam that has a step more has continued its best. So one that continues nothing is over, and what
        lived in it was left as it was; in a group that goes on, what is not continued was dropped.
        """
        there = [(step, node.group) for step, node in zip(self.steps, self.nodes, strict=True)]
        going_on = {(step - 1, group) for step, group in there}
        return [self._fate(place, there[place] in going_on) for place in range(len(self.nodes))]

    def _fate(self, place: int, group_goes_on: bool) -> Fate:
        node = self.nodes[place]
        if node.score is not None:
            return "outdone" if node.rank is None else "won" if node.rank == 1 else "kept"
        if self.children[place]:
            return "continued"
        return "dropped" if group_goes_on else "open"

    @cached_property
    def outputs(self) -> list[int]:
        """The finished hypotheses that are the search's outputs, best first."""
        ranked = [(node.rank, place) for place, node in enumerate(self.nodes) if node.rank is not None]
        return [place for _, place in sorted(ranked)]

    def path(self, place: int) -> list[int]:
        """The hypotheses that led to this one, from its first token on."""
        found: list[int] = []
        at: int | None = place
        while at is not None:
            found.append(at)
            at = self.nodes[at].parent
        return found[::-1]

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
    """The lane of each hypothesis, 0 on top."""
    order = _ordered_children(tree)
    outlines: dict[int | None, Outline] = {}
    offsets: dict[int, int] = {}
    for place in [*reversed(range(len(tree.nodes))), None]:
        outlines[place] = _hung([(child, outlines.pop(child)) for child in order[place]], offsets)
    found: list[int] = []
    for place, node in enumerate(tree.nodes):
        found.append(offsets[place] + (0 if node.parent is None else found[node.parent]))
    return found


def _ordered_children(tree: Tree) -> dict[int | None, list[int]]:
    """Order the children of each hypothesis: first the one in its own lane, which leads farthest, then by length."""
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
    """Hang branches under each other, noting by how many lanes each is lowered; gives the outline with their parent."""
    upper: list[int] = []
    lower: list[int] = []
    for child, (top, bottom) in branches:
        shift = max((above - below + 1 for above, below in zip(lower, top, strict=False)), default=0)
        offsets[child] = shift
        upper += [lane + shift for lane in top[len(upper) :]]
        lower = [lane + shift for lane in bottom] + lower[len(bottom) :]
    return [0, *upper], [0, *lower]
