"""Drawings as people have them, read as a model reads them: what is too long or too wide for it is refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regard.base.faults import Fault
from regard.data.strokes.drawings import moves_of, read_drawings
from regard.data.strokes.options import StrokeData
from regard.data.strokes.prepare import Drawings, StrokeScale
from regard.tasks.strokes.steps import StepKind

GivenDrawing = str | Path | np.ndarray  # a file, of which the first drawing is meant, or moves (move, 3) in whole units


@dataclass(frozen=True)
class DrawingReader:
    """Reader of a model's drawings: the options of its data, their scale, and the kind of its steps."""

    data: StrokeData
    scale: StrokeScale
    kind: StepKind

    def moves(self, given: GivenDrawing) -> np.ndarray:
        moves, name = given, "The drawing"
        if not isinstance(moves, np.ndarray):
            moves, name = self._held(moves)[0], str(given)
        self.scale.refuse_outside(moves, name)
        return moves

    def drawings_in(self, file: str | Path) -> list[np.ndarray]:
        """The moves of all drawings in a file."""
        held = self._held(file)
        for number, moves in enumerate(held, start=1):
            self.scale.refuse_outside(moves, f"Drawing {number:,} of {file}")
        return held

    def _held(self, file: str | Path) -> list[np.ndarray]:
        return read_drawings(Path(file), "test", self.data.unit, self.data.simplify)

    def moves_along(self, strokes: Sequence[np.ndarray]) -> np.ndarray:
        """The moves of strokes that someone drew."""
        return self.moves(moves_of(strokes, self.data.unit, self.data.simplify))

    def steps(self, moves: np.ndarray) -> np.ndarray:
        steps = self.kind.encode(moves)
        if len(steps) > self.scale.steps:  # with separators there may be more steps than moves
            raise Fault(f"The drawing has {len(steps):,} tokens; the model reads {self.scale.steps:,} at most.")
        return steps

    def read(self, inputs: Sequence[GivenDrawing]) -> Drawings:
        """Some drawings, one after the other."""
        drawings = [self.moves(each) for each in inputs]
        steps = [self.steps(moves) for moves in drawings]
        points = np.array([len(moves) for moves in drawings])
        return Drawings(np.concatenate(steps), np.cumsum([0, *map(len, steps)]), points)

    def points_of(self, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The points (point, 2) of a drawing, where it begins being the first, as people give coordinates; whether a
        stroke ends at each; and for each step the number of the point that the pen has come to behind it."""
        moves = self.kind.decode(steps)
        points = np.concatenate([np.zeros((1, 2)), np.cumsum(moves[:, :2], axis=0)]) * self.data.unit
        return points, np.append(False, moves[:, 2] == 1), np.cumsum(self.kind.is_move(steps))
