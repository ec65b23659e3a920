"""Naming what is drawn: drawings for batches, a class for an answer, strokes for what was looked at."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from regard.base.faults import Fault
from regard.data.strokes.options import LabelledStrokeData
from regard.data.strokes.prepare import STROKES_FILE, StrokeScale, check_files_there, open_scale
from regard.models.shapes import ShapesOnly, refuse_too_large
from regard.models.strokes.classifier import SketchClassifier
from regard.models.strokes.network import StrokeShape
from regard.protocols import Answer, Loss, Measure
from regard.tasks.base import Files
from regard.tasks.classes import CLASS_MEASURES, answers_among, measures_of_classes, sums_of_classes
from regard.tasks.recognition.batches import LabelledDrawings, labelled_batches, plain_batch
from regard.tasks.recognition.options import RecognitionRecipe, RecognitionTraining
from regard.tasks.strokes.base import DrawingTask
from regard.tasks.strokes.reading import GivenDrawing
from regard.tasks.strokes.steps import Moves, Tokens, features_of, kind_of_steps
from regard.viewing.sides import Side


class Recognition(DrawingTask):
    """A network that names drawings, the scale of these, and what a step of them is."""

    MEASURES: ClassVar[tuple[str, ...]] = CLASS_MEASURES
    unit = "drawings"
    model: SketchClassifier

    def __init__(
        self,
        model: SketchClassifier,
        kind: Moves | Tokens,
        data: LabelledStrokeData,
        scale: StrokeScale,
        training: RecognitionTraining,
    ) -> None:
        super().__init__(model, kind, data, scale)
        self.training_options = training

    # How it comes to be

    @classmethod
    def check(cls, recipe: RecognitionRecipe, device: torch.device, folder: Path | None) -> None:
        check_files_there(recipe.data, folder)
        with ShapesOnly():  # before the drawings are read, for as short ones as there are
            refuse_too_large(SketchClassifier(recipe.model, StrokeShape(2, None), 2))

    @classmethod
    def build(cls, recipe: RecognitionRecipe, files: Files) -> "Recognition":
        scale = open_scale(files)
        if len(scale.classes) < 2:
            raise Fault(f"{STROKES_FILE} of the model folder names no classes.")
        kind = kind_of_steps(scale, recipe.data)
        network = SketchClassifier(recipe.model, StrokeShape(scale.steps, kind.tokens), len(scale.classes))
        return cls(network, kind, recipe.data, scale, recipe.training)

    # What the trainer and the evaluator ask for

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[LabelledDrawings]:
        drawings, distort = self.material.splits[split], self.training_options.distort
        return labelled_batches(drawings, split, rows, distort, self.scale.steps, seed, epoch, start)

    def loss(self, batch: LabelledDrawings, carry: dict[str, Tensor] | None = None) -> Loss:
        return Loss(F.nll_loss(self._log_probabilities(batch), batch.labels, reduction="sum"), batch.rows)

    @torch.no_grad()
    def measure(self, batch: LabelledDrawings) -> dict[str, Measure]:
        return measures_of_classes(self.sums_of_rows(batch), "drawings")

    @torch.no_grad()
    def sums_of_rows(self, batch: LabelledDrawings) -> dict[str, Tensor]:
        return sums_of_classes(self._log_probabilities(batch), batch.labels)

    def _log_probabilities(self, batch: LabelledDrawings) -> Float[Tensor, "batch class"]:
        steps = batch.steps
        if isinstance(self.kind, Moves):
            moves = steps[..., :2].to(self.model.dtype) @ batch.maps.to(self.model.dtype) / self.kind.scale
            steps = features_of(moves, steps[..., 2])
        return self.model(steps, batch.lengths)

    # What people see

    def read(self, inputs: Sequence[GivenDrawing]) -> LabelledDrawings:
        """The first drawing in each file, or moves (move, 3) in whole units."""
        drawings = self.reader.read(inputs)
        return plain_batch(drawings, np.arange(len(drawings)), self.scale.steps).to(self.device)

    @torch.no_grad()
    def answers(self, batch: LabelledDrawings) -> list[Answer]:
        return answers_among(self.scale.classes, self._log_probabilities(batch))

    def sides(self, batch: LabelledDrawings, outputs: Sequence[Any]) -> dict[str, Side]:
        """The points that the pen has come to behind each step."""
        return self.stroke_side(batch, is_behind=True)

    def quote(self, batch: LabelledDrawings) -> str:
        return f"a drawing of {int(batch.lengths[0])} steps, labelled '{self.scale.classes[int(batch.labels[0])]}'"

    def facts(self) -> dict[str, Any]:
        return {"classes": len(self.scale.classes)} | super().facts()
