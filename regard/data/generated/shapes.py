"""Pictures of one or two coloured shapes, with all true captions of a small grammar.

    a red circle above a blue square          a blue square below a red circle
    a large green star in the upper left      in the upper left a large green star

Every picture is a pure function of its key. Its captions are all true sentences of the grammar, with or without the
sizes of the shapes, so any caption is either right or wrong.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

KINDS = ("circle", "square", "triangle", "star")
COLOURS = {
    "red": (214, 39, 40),
    "green": (44, 140, 44),
    "blue": (31, 90, 200),
    "yellow": (235, 200, 30),
    "purple": (128, 60, 160),
    "orange": (245, 130, 20),
}
SIZES = {"small": 0.09, "large": 0.16}  # half a shape's size, as a share of the picture's side
PLACES = (
    ("in the upper left", "at the top", "in the upper right"),
    ("on the left", "in the middle", "on the right"),
    ("in the lower left", "at the bottom", "in the lower right"),
)
OPPOSITES = {
    "above": "below",
    "below": "above",
    "to the left of": "to the right of",
    "to the right of": "to the left of",
}
_ALONE = 0.3  # share of pictures with a single shape
_FINER = 4  # pixels drawn per side for each final one, for smooth edges


@dataclass(frozen=True)
class Shape:
    """A shape with its centre as shares of the picture's height and width."""

    kind: str
    colour: str
    size: str
    row: float
    column: float

    def name(self, with_size: bool) -> str:
        """Return the shape's name: a red circle, a large red circle, an orange star."""
        words = [*([self.size] if with_size else []), self.colour, self.kind]
        return f"{'an' if words[0] == 'orange' else 'a'} {' '.join(words)}"


def draw_shapes(shapes: Sequence[Shape], side: int, ground: int) -> np.ndarray:
    """Return the pixels (side, side, 3) of shapes on a grey background from 0 to 255."""
    scale = side * _FINER
    picture = Image.new("RGB", (scale, scale), (ground, ground, ground))
    pen = ImageDraw.Draw(picture)
    for shape in shapes:
        middle, reach = (shape.column * scale, shape.row * scale), SIZES[shape.size] * scale
        if shape.kind == "circle":
            pen.circle(middle, reach, fill=COLOURS[shape.colour])
        else:
            corners = [(middle[0] + reach * across, middle[1] + reach * down) for across, down in _OUTLINES[shape.kind]]
            pen.polygon(corners, fill=COLOURS[shape.colour])
    return np.asarray(picture.resize((side, side), Image.Resampling.BOX))


def captions_of(shapes: Sequence[Shape]) -> list[str]:
    """Return all true sentences of the grammar about a picture with these shapes: four."""
    if len(shapes) == 1:
        (shape,) = shapes
        where = PLACES[int(shape.row * 3)][int(shape.column * 3)]
        return [text for sized in (False, True) for text in _alone(shape.name(sized), where)]
    one, other = shapes
    relation = relation_of(one, other)
    return [
        text
        for sized in (False, True)
        for text in (
            f"{one.name(sized)} {relation} {other.name(sized)}",
            f"{other.name(sized)} {OPPOSITES[relation]} {one.name(sized)}",
        )
    ]


def relation_of(one: Shape, other: Shape) -> str:
    """Return where one shape lies relative to another, along the axis on which they are further apart."""
    down, across = other.row - one.row, other.column - one.column
    if abs(down) > abs(across):
        return "above" if down > 0 else "below"
    return "to the left of" if across > 0 else "to the right of"


def shapes_of(key: Sequence[int]) -> list[Shape]:
    """Return the one or two shapes of a key, which never look alike and are clearly apart."""
    draws = np.random.default_rng(key)
    kinds, colours, sizes = ([str(name) for name in draws.choice(list(names), 2)] for names in (KINDS, COLOURS, SIZES))
    if draws.random() < _ALONE:
        reach = SIZES[sizes[0]]
        places = ((draws.integers(0, 3) + draws.uniform(0.35, 0.65)) / 3 for _ in range(2))
        row, column = (float(np.clip(place, reach, 1 - reach)) for place in places)
        return [Shape(kinds[0], colours[0], sizes[0], row, column)]
    if (kinds[0], colours[0]) == (kinds[1], colours[1]):  # otherwise a caption could mean either
        colours[1] = str(draws.choice([colour for colour in COLOURS if colour != colours[0]]))
    distance, offset = draws.uniform(0.36, 0.6), draws.uniform(-0.15, 0.15)
    first, across = 0.5 - distance / 2 + draws.uniform(-0.02, 0.02), draws.uniform(0.3, 0.7)
    ends = [(first, across - offset / 2), (first + distance, across + offset / 2)]
    if draws.random() < 0.5:
        ends = [(column, row) for row, column in ends]
    looks = zip(kinds, colours, sizes, [ends[place] for place in draws.permutation(2)], strict=True)
    return [Shape(kind, colour, size, float(row), float(column)) for kind, colour, size, (row, column) in looks]


def picture_of(key: Sequence[int], side: int) -> tuple[np.ndarray, list[str]]:
    """Return the pixels of a key's picture, on a light or dark background, and its captions."""
    shapes = shapes_of(key)
    ground = int(np.random.default_rng([*key, 1]).choice([24, 48, 208, 240]))
    return draw_shapes(shapes, side, ground), captions_of(shapes)


def _alone(name: str, where: str) -> tuple[str, str]:
    return f"{name} {where}", f"{where} {name}"


def _star() -> list[tuple[float, float]]:
    """Return ten corners, every second one nearer to the centre, the first at the top."""
    angles = [math.pi * corner / 5 for corner in range(10)]
    return [
        ((0.45 if corner % 2 else 1.0) * math.sin(angle), -(0.45 if corner % 2 else 1.0) * math.cos(angle))
        for corner, angle in enumerate(angles)
    ]


_OUTLINES: dict[str, list[tuple[float, float]]] = {
    "square": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
    "triangle": [(0.0, -1.0), (1.0, 0.8), (-1.0, 0.8)],
    "star": _star(),
}
