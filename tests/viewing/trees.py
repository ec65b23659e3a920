"""Example trees: one with parts that can be checked by hand, and random ones."""

import random
from collections.abc import Sequence

from regard.viewing.hypotheses import Node, Tree

END = "</s>"


def small_tree(tokens: Sequence[str] = "abcdef", source: str = "x y") -> Tree:
    """Return a beam of three over three steps in which hypotheses meet every possible fate."""
    a, b, c, d, e, f = tokens
    nodes = [
        Node(a, None, -0.1, -0.1, a),
        Node(b, None, -2.5, -2.5, b),
        Node(c, None, -3.0, -3.0, c),
        Node(d, 0, -0.25, -0.35, a + d),
        Node(e, 0, -1.0, -1.1, a + e),
        Node(d, 1, -0.5, -3.0, b + d),
        Node(END, 3, -0.15, -0.5, a + d, score=-0.5, rank=1),
        Node(END, 4, -0.1, -1.2, a + e, score=-0.7, rank=2),
        Node(END, 5, -0.2, -3.2, b + d, score=-2.1),
        Node(f, 3, -3.0, -3.35, a + d + f),
    ]
    return Tree(source, 3, nodes)


def branching(dice: random.Random, width: int, steps: int) -> Tree:
    """Return a random beam: each step continues some living hypotheses and sometimes finishes one."""
    nodes: list[Node] = []
    alive: list[int | None] = [None]
    rank = 0
    for step in range(steps):
        parents = sorted(dice.choices(range(len(alive)), k=width))
        after: list[int | None] = []
        for parent in (alive[place] for place in parents):
            after.append(len(nodes))
            nodes.append(Node(dice.choice(["▁casa", "a", "▁", "<0xC3>", "книга"]), parent, -1.0, -step, "texto"))
        for parent in {alive[place] for place in parents if dice.random() < 0.1 or step == steps - 1}:
            rank += 1
            nodes.append(Node(END, parent, -1.0, -step, "texto", score=-1.0, rank=rank if rank <= width else None))
        alive = after
    return Tree("fonte", width, nodes)
