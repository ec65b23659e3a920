"""Read people's drawings for a model; refuse those too long or too large for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regard.base.faults import Fault
from regard.data.strokes.drawings import moves_of, read_drawings
from regard.data.strokes.options import StrokeData
from regard.data.strokes.prepare import Drawings, StrokeScale
from regard.tasks.strokes.steps import StepKind

GivenDrawing = str | Path | np.ndarray  # a file, for its first drawing, or moves (move, 3) in whole units


@dataclass(frozen=True)
class DrawingReader:
    """Reads drawings for a model, by the options of its data, their scale, and the kind of its steps."""

    data: StrokeData
    scale: StrokeScale
    kind: StepKind

    def moves(self, drawing: GivenDrawing, name: str = "The drawing") -> np.ndarray:
        moves = drawing
        if not isinstance(moves, np.ndarray):
            moves, name = self._held(moves)[0], str(drawing)
        self.scale.refuse_outside(moves, name)
        return moves

    def drawings_in(self, file: str | Path) -> list[np.ndarray]:
        """Return the moves of all drawings in a file."""
        drawings = self._held(file)
        for number, moves in enumerate(drawings, start=1):
            self.scale.refuse_outside(moves, f"Drawing {number:,} of {file}")
        return drawings

    def _held(self, file: str | Path) -> list[np.ndarray]:
        return read_drawings(Path(file), "test", self.data.unit, self.data.simplify)

    def moves_along(self, strokes: Sequence[np.ndarray], name: str = "The drawing") -> np.ndarray:
        """Return the moves of strokes that someone drew; refusals name the drawing."""
        return self.moves(moves_of(strokes, self.data.unit, self.data.simplify), name)

    def steps(self, moves: np.ndarray) -> np.ndarray:
        steps = self.kind.encode(moves)
        if len(steps) > self.scale.steps:  # with separators there may be more steps than moves
            raise Fault(f"The drawing has {len(steps):,} tokens; the model reads {self.scale.steps:,} at most.")
        return steps

    def read(self, inputs: Sequence[GivenDrawing]) -> Drawings:
        """Read several drawings."""
        drawings = [self.moves(drawing) for drawing in inputs]
        steps = [self.steps(moves) for moves in drawings]
        points = np.array([len(moves) for moves in drawings])
        return Drawings(np.concatenate(steps), np.cumsum([0, *map(len, steps)]), points)

    def points_of(self, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return points, stroke ends and places of a drawing.

        The points (point, 2) are in user coordinates, starting where the drawing begins. The ends say whether a stroke
        ends at each point. The places give for each step the number of the point that the pen reaches after it.
        """
        moves = self.kind.decode(steps)
        points = np.concatenate([np.zeros((1, 2)), np.cumsum(moves[:, :2], axis=0)]) * self.data.unit
        return points, np.append(False, moves[:, 2] == 1), np.cumsum(self.kind.is_move(steps))
