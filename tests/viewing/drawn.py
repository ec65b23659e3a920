"""Small things to draw with numbers that can be checked by hand: a graph, glimpses, picture cells, a memory."""

import numpy as np

from regard.viewing.neighbourhood import Neighbourhood, neighbourhood_of
from regard.viewing.overlay import Overlay
from regard.viewing.seen import Block
from regard.viewing.sides import Nodes
from regard.viewing.slots import MemoryUse
from regard.viewing.strip import Strip
from regard.viewing.strokes import StrokeLooks
from regard.viewing.windows import GlimpsePath

# Six papers: a cites b, c and d; b also cites e, and c and d each other; no paper cites f.
NAMES = ["a", "b", "c", "d", "e", "f"]
PAPERS = Nodes(NAMES, [0], ["X", "Y", "X", "X", "Y", "X"], ["X", "Y", "Y", "", "Y", "X"])
EDGES = np.array(
    [[0, 0, 0, 0, 1, 1, 2, 3, 1], [0, 1, 2, 3, 1, 4, 3, 2, 0]]  # a to itself and to b, c, d; b to itself, e and a; …
)


def edge_blocks() -> list[Block]:
    """Return two heads, the first looking most at b and the second at d, then one head with even weights."""
    first = [0.1, 0.6, 0.2, 0.1, 0.5, 0.3, 1.0, 1.0, 0.2]
    second = [0.2, 0.1, 0.1, 0.6, 0.5, 0.3, 1.0, 1.0, 0.2]
    alike = [0.25] * 4 + [1 / 3] * 2 + [1.0, 1.0, 1 / 3]
    return [Block("layers.0", np.array([first, second])), Block("layers.1", np.array([alike]))]


def neighbourhood(rings: int = 1, most: int = 60) -> Neighbourhood:
    return neighbourhood_of(PAPERS, EDGES, edge_blocks(), 0, rings, most)


def star(neighbours: int, heads: int = 8, name: str = "n") -> Neighbourhood:
    """Return a node that looks at itself and this many others, each head at a different one."""
    weights = np.full((heads, neighbours + 1), 0.5 / (neighbours + 1))
    weights[np.arange(heads), np.arange(heads) % (neighbours + 1)] += 0.5
    edges = np.stack([np.zeros(neighbours + 1, dtype=int), np.arange(neighbours + 1)])
    side = Nodes([f"{name}{node}" for node in range(neighbours + 1)], [0])
    return neighbourhood_of(side, edges, [Block("look", weights)], 0)


def glimpses() -> GlimpsePath:
    """Return a picture of 6 × 4 pixels, brighter to the right, and three glimpses of 2 and 4 pixels, the last half
    outside.
    """
    picture = np.tile(np.arange(6) / 5, (4, 1))
    centres, extents = np.array([[3, 2], [1, 1], [6, 3]]), np.tile([2, 4], (3, 1))
    return GlimpsePath("six.png: bright", picture, ["glimpse 1", "glimpse 2", "glimpse 3"], centres, extents)


def overlay(colours: bool = False) -> Overlay:
    """Return two words over 2 × 3 picture cells; the first looks at one cell, the second at two, one per head."""
    picture = np.tile(np.arange(6) / 5, (4, 1))
    weights = np.zeros((2, 2, 6))
    weights[:, 0, 1] = 1
    weights[0, 1, 3] = weights[1, 1, 5] = 1
    shown = np.stack([picture] * 3, axis=2) if colours else picture
    return Overlay("six.png: a dog", shown, (2, 3), ["a", "dog"], [Block("decoder.look", weights)])


def strip() -> Strip:
    """Return two words over three frames; the first looks at the first frame, the second at two, one per head."""
    frames = np.stack([np.full((4, 6, 3), grey) for grey in (0.0, 0.5, 1.0)])
    weights = np.zeros((2, 2, 3))
    weights[:, 0, 0] = 1
    weights[0, 1, 1] = weights[1, 1, 2] = 1
    return Strip("it.gif: jumps then", frames, ["jumps", "then"], [Block("look", weights)])


def stepping(slots: int = 20, first: int = 18) -> MemoryUse:
    """Return two heads over three steps: one writes consecutive slots, the other stays where that began."""
    weights = np.zeros((2, 3, slots))
    weights[0, :, first] = 1
    for step in range(3):
        weights[1, step, (first + step) % slots] = 0.6
    addresses = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    return MemoryUse("10 01: 10", ["10", "01", "→ 10"], ["read", "write"], weights, addresses, addresses[::-1])


def stroke_looks() -> StrokeLooks:
    """Return a corner, then a line whose end does not look; one head looks at the previous point, the other at the
    first.
    """
    points = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [30.0, 5.0], [34.0, 5.0]])
    weights = np.zeros((2, 4, 4))
    weights[0, np.arange(4), [0, 0, 1, 2]] = 1
    weights[1, :, 0] = 1
    ends = np.array([False, False, True, False, True])
    return StrokeLooks("corner.json: 9.0 nats", points, ends, [Block("body", weights)])
