"""Truth of captioners on generated pictures: the cells of the shape that a word describes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.data.captions.options import CaptionData
from regard.data.generated.shapes import Shape, captions_of, draw_shapes, shapes_of
from regard.loading import Loaded
from regard.seeing.trust.known import KnownDecision
from regard.seeing.why.decision import Question
from regard.viewing.sides import Cells

_COVERED = 0.125  # smallest share of a cell that a shape must cover
_FINE = 8  # pixels a side of a cell, when a shape is measured
_GROUND = 0


@dataclass(frozen=True)
class NamedShapes:
    """The true units of a word for a size, a colour or a kind are the cells that its shape covers."""

    data: CaptionData
    name: str = "the named shape"

    @classmethod
    def of(cls, model: Loaded) -> "NamedShapes | None":
        """Return the truth of a captioner that was trained on generated pictures."""
        data = model.recipe.data
        return cls(data) if data.shapes is not None and data.frames is None else None

    def decisions(self) -> Iterator[KnownDecision]:
        """Yield one word of a true caption of each test picture, by turns an earlier or a later one."""
        assert self.data.shapes is not None
        for number in range(self.data.shapes.test):
            name = f"test-{number}"
            captions = captions_of(self._shapes(name))
            caption = captions[number % len(captions)]
            places = [place for place, shape in enumerate(described(caption, self._shapes(name))) if shape]
            yield KnownDecision(name, caption, places[number // len(captions) % len(places)])

    def units(self, item: Any, question: Question) -> frozenset[int] | None:
        shapes, side = self._shapes(str(item)), question.side
        if not shapes or question.output.strip() not in captions_of(shapes):
            return None
        if not isinstance(side, Cells) or side.grid is None or len(question.names) != side.grid[0] * side.grid[1]:
            return None
        owners = described(question.output.strip(), shapes)
        chosen = [owners[place] for place in question.queries or () if place < len(owners)]
        return frozenset().union(*(cells_of(shape, side.grid) for shape in chosen if shape)) or None

    def _shapes(self, name: str) -> list[Shape]:
        """Return the shapes of a generated picture by its name, such as test-3; none for any other picture."""
        split, _, number = name.partition("-")
        assert self.data.shapes is not None
        if split not in self.data.parts or not (number.isascii() and number.isdecimal() and len(number) < 8):
            return []
        return shapes_of([self.data.shapes.seed, list(self.data.parts).index(split), int(number)])


def described(caption: str, shapes: Sequence[Shape]) -> list[Shape | None]:
    """Return, for each word of a true caption, the shape whose size, colour or kind it names."""
    words = caption.split()
    owners: list[Shape | None] = [None] * len(words)
    for shape in shapes:
        for place in range(len(words) - 1):
            if words[place : place + 2] == [shape.colour, shape.kind]:
                first = place - 1 if place and words[place - 1] == shape.size else place
                owners[first : place + 2] = [shape] * (place + 2 - first)
    return owners


def cells_of(shape: Shape, grid: tuple[int, int]) -> frozenset[int]:
    """Return the cells of a grid, row by row, of which a shape covers an eighth or more."""
    fine = _FINE * grid[0] * grid[1]
    covered = (draw_shapes([shape], fine, _GROUND) != _GROUND).any(axis=2)
    shares = covered.reshape(grid[0], fine // grid[0], grid[1], fine // grid[1]).mean(axis=(1, 3)).ravel()
    return frozenset(np.flatnonzero(shares >= min(_COVERED, shares.max())).tolist())
