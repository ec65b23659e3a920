"""Naming what is drawn: drawings for batches, a class for an answer, strokes for what was looked at."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.strokes.options import LabelledStrokeData
from regard.data.strokes.prepare import (
    STROKES_FILE,
    PreparedStrokes,
    StrokeScale,
    check_files_there,
    open_scale,
    prepare_strokes,
)
from regard.models.shapes import ShapesOnly, refuse_too_large
from regard.models.strokes.bodies import DRAWING
from regard.models.strokes.classifier import SketchClassifier
from regard.models.strokes.network import StrokeShape
from regard.protocols import Answer, Loss, Measure
from regard.tasks.classes import CLASS_MEASURES, answers_among, measures_of_classes, sums_of_classes
from regard.tasks.recognition.batches import LabelledDrawings, labelled_batches, undistorted
from regard.tasks.recognition.options import RecognitionRecipe, RecognitionTraining
from regard.tasks.strokes.batches import MEASURED_ROWS
from regard.tasks.strokes.reading import DrawingReader, GivenDrawing
from regard.tasks.strokes.steps import Moves, Tokens, features_of, kind_of_steps
from regard.viewing.sides import Side
from regard.viewing.sides import Strokes as StrokeSide


class Recognition(nn.Module):
    """A network that names drawings, the scale of these, and what a step of them is."""

    MEASURES: ClassVar[tuple[str, ...]] = CLASS_MEASURES
    unit = "drawings"

    def __init__(
        self,
        model: SketchClassifier,
        kind: Moves | Tokens,
        data: LabelledStrokeData,
        scale: StrokeScale,
        training: RecognitionTraining,
    ) -> None:
        super().__init__()
        self.model, self.kind, self.scale, self.training_options = model, kind, scale, training
        self.reader = DrawingReader(data, scale, kind)
        self._prepared: PreparedStrokes | None = None

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @property
    def extent(self) -> float:
        """How wide and high drawings usually are, as people give coordinates."""
        return self.scale.extent * self.reader.data.unit

    # How it comes to be

    @classmethod
    def check(cls, recipe: RecognitionRecipe, device: torch.device, folder: Path | None) -> None:
        check_files_there(recipe.data, folder)
        with ShapesOnly():  # before the drawings are read, for as short ones as there are
            refuse_too_large(SketchClassifier(recipe.model, StrokeShape(2, None), 2))

    @classmethod
    def prepare(
        cls,
        recipe: RecognitionRecipe,
        folder: Path,
        progress: Progress,
        remark: Remark,
        start: Mapping[str, bytes] | None,
    ) -> PreparedStrokes:
        return prepare_strokes(recipe.data, folder, progress, None if start is None else open_scale(start))

    @classmethod
    def build(cls, recipe: RecognitionRecipe, files: Mapping[str, bytes]) -> "Recognition":
        scale = open_scale(files)
        if len(scale.classes) < 2:
            raise Fault(f"{STROKES_FILE} of the model folder names no classes.")
        kind = kind_of_steps(scale, recipe.data)
        network = SketchClassifier(recipe.model, StrokeShape(scale.steps, kind.tokens), len(scale.classes))
        return cls(network, kind, recipe.data, scale, recipe.training)

    # What the trainer and the evaluator ask for

    def learn_from(self, prepared: PreparedStrokes, recipe: RecognitionRecipe) -> None:
        self._prepared = prepared

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[LabelledDrawings]:
        if self._prepared is None:
            raise RuntimeError("a task of recognition has batches only once it learns from drawings")
        rows = self.training_options.batch if split == "train" else MEASURED_ROWS
        drawings, distort = self._prepared.splits[split], self.training_options.distort
        for batch in labelled_batches(drawings, split, rows, distort, self.scale.steps, seed, epoch, start):
            yield batch.to(self.device)

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
        return undistorted(drawings, np.arange(len(drawings)), self.scale.steps).to(self.device)

    @torch.no_grad()
    def answers(self, batch: LabelledDrawings) -> list[Answer]:
        return answers_among(self.scale.classes, self._log_probabilities(batch))

    def sides(self, batch: LabelledDrawings, outputs: Sequence[Any]) -> dict[str, Side]:
        """The points that the pen has come to behind each step."""
        points, ends, behind = self.reader.points_of(batch.steps[0, : int(batch.lengths[0])].cpu().numpy())
        padded = np.pad(behind, (0, batch.steps.shape[1] - len(behind)), mode="edge")
        return {DRAWING: StrokeSide(points, ends, padded.tolist())}

    def quote(self, batch: LabelledDrawings) -> str:
        return f"a drawing of {int(batch.lengths[0])} steps, labelled '{self.scale.classes[int(batch.labels[0])]}'"

    def facts(self) -> dict[str, Any]:
        tokens = {} if self.kind.tokens is None else {"tokens": self.kind.tokens}
        named = {"coding": self.reader.data.coding, **tokens, "steps": self.scale.steps, "extent": self.extent}
        return {"classes": len(self.scale.classes), **named}

    def cost(self, size: int) -> dict[str, int | float]:
        """What a drawing of `size` steps takes."""
        return {"multiplications": self.model.multiplications(size)}
