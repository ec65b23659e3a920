"""Where the branches of a tree stand, so that no two lie on each other and no two lines cross.

Time runs along; every step has its column, and every hypothesis a lane. The best output runs straight along lane 0, and
what branches off hangs below it. Each branch moves up to its neighbours as far as their outlines allow, after Reingold
and Tilford (1981), whose trees grow downwards.
"""

import math

from regard.viewing.tree.record import Tree

Outline = tuple[list[int], list[int]]  # the uppermost and the lowest lane in each column, from the branch's first on


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
    """Of each hypothesis first the child that stays in its lane, which leads farthest, then the others by length."""
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
