"""Shared by tasks on drawings: how drawings reach a network, and how people see them."""

from pathlib import Path
from typing import Any

import numpy as np

from regard.base.progress import Progress, Remark
from regard.data.strokes.options import StrokeData
from regard.data.strokes.prepare import PreparedStrokes, StrokeScale, open_scale, prepare_strokes
from regard.models.strokes.bodies import DRAWING
from regard.tasks.base import Files, NetworkTask
from regard.tasks.strokes.reading import DrawingReader
from regard.tasks.strokes.steps import Moves, Tokens
from regard.viewing.sides import Side
from regard.viewing.sides import Strokes as StrokeSide


class DrawingTask(NetworkTask[PreparedStrokes]):
    """A network over drawings, their scale, and what a step of them is."""

    measured_rows = 100

    def __init__(self, model: Any, kind: Moves | Tokens, data: StrokeData, scale: StrokeScale) -> None:
        super().__init__(model)
        self.kind, self.data, self.scale = kind, data, scale
        self.reader = DrawingReader(data, scale, kind)

    @property
    def extent(self) -> float:
        """Usual width and height of its drawings, in user coordinates."""
        return self.scale.extent * self.data.unit

    @classmethod
    def prepare(
        cls, recipe: Any, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedStrokes:
        return prepare_strokes(recipe.data, folder, progress, None if start is None else open_scale(start))

    def stroke_side(self, batch: Any, is_behind: bool) -> dict[str, Side]:
        """Return the strokes of the one drawing of a batch; a step looks from the point after it, or before it."""
        points, ends, places = self.reader.points_of(batch.steps[0, : int(batch.lengths[0])].cpu().numpy())
        if not is_behind:
            places = np.append(0, places)[:-1]
        padded = np.pad(places, (0, batch.steps.shape[1] - len(places)), mode="edge")
        return {DRAWING: StrokeSide(points, ends, padded.tolist())}

    def facts(self) -> dict[str, Any]:
        tokens = {} if self.kind.tokens is None else {"tokens": self.kind.tokens}
        return {"coding": self.data.coding, **tokens, "steps": self.scale.steps, "extent": self.extent}
