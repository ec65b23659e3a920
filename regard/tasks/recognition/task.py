"""The task of classifying drawings: batches of drawings, a class as the answer, and attention to strokes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.base.faults import Fault
from regard.data.strokes.options import LabelledStrokeData
from regard.data.strokes.prepare import STROKES_FILE, Drawings, StrokeScale, check_files_there, open_scale
from regard.models.shapes import ShapesOnly, refuse_too_large
from regard.models.strokes.classifier import SketchClassifier
from regard.models.strokes.network import StrokeShape
from regard.protocols import Answer, Decision, Loss, Measure
from regard.tasks.base import Files
from regard.tasks.classes import CLASS_MEASURES, answers_among, measures_of_classes, sums_of_classes
from regard.tasks.held_batch import HeldBatch
from regard.tasks.recognition.options import RecognitionRecipe, RecognitionTraining
from regard.tasks.strokes.base import DrawingTask
from regard.tasks.strokes.batches import fill_up, rows_of_batches
from regard.tasks.strokes.reading import GivenDrawing
from regard.tasks.strokes.steps import Moves, Tokens, features_of, kind_of_steps
from regard.viewing.sides import Side

UNKNOWN = -1  # the class of a drawing that people ask about


@dataclass(frozen=True)
class LabelledDrawings(HeldBatch):
    """Some drawings, padded to one length as in `StrokeBatch`, with the numbers of their classes.

    `maps` turn, stretch and slant the moves of each drawing; tokens are unchanged.
    """

    steps: Int[Tensor, "batch time *move"]
    lengths: Int[Tensor, " batch"]
    maps: Float[Tensor, "batch 2 2"]
    labels: Int[Tensor, " batch"]

    @property
    def rows(self) -> int:
        return self.steps.shape[0]

    def split(self, parts: int) -> list["LabelledDrawings"]:
        """Return these rows in `parts` smaller batches."""
        return [LabelledDrawings(*rows) for rows in zip(*(tensor.chunk(parts) for tensor in self.tensors), strict=True)]

    # For captured passes

    @property
    def count(self) -> int:
        return self.rows

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.steps, self.lengths, self.maps, self.labels

    def holding(self, tensors: tuple[Tensor, ...]) -> "LabelledDrawings":
        return LabelledDrawings(*tensors)


def plain_batch(drawings: Drawings, rows: np.ndarray, longest: int) -> LabelledDrawings:
    """Return the drawings with these numbers unchanged, with their classes if they have any."""
    steps, lengths = fill_up(drawings, rows, longest)
    labels = np.full(len(rows), UNKNOWN) if drawings.labels is None else drawings.labels[rows]
    still = torch.eye(2).repeat(len(rows), 1, 1)
    return LabelledDrawings(torch.from_numpy(steps), torch.from_numpy(lengths), still, torch.from_numpy(labels))


def labelled_batches(
    drawings: Drawings, split: str, batch: int, distort: float, longest: int, seed: int, epoch: int, start: int
) -> Iterator[LabelledDrawings]:
    """Yield the batches of an epoch from number `start` on, on the host."""
    for rows, key in rows_of_batches(drawings, split, batch, seed, epoch, start):
        drawn_batch = plain_batch(drawings, rows, longest)
        if split == "train":
            noise = np.random.default_rng(key).standard_normal((len(rows), 2, 2), np.float32)
            drawn_batch.maps.add_(torch.from_numpy(distort * noise))
        yield drawn_batch


class Recognition(DrawingTask):
    """A network that classifies drawings, their scale, and what a step of them is."""

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

    # Construction

    @classmethod
    def check(cls, recipe: RecognitionRecipe, device: torch.device, folder: Path | None) -> None:
        check_files_there(recipe.data, folder)
        with ShapesOnly():  # before the drawings are read, for the shortest possible ones
            refuse_too_large(SketchClassifier(recipe.model, StrokeShape(2, None), 2))

    @classmethod
    def build(cls, recipe: RecognitionRecipe, files: Files) -> "Recognition":
        scale = open_scale(files)
        if len(scale.classes) < 2:
            raise Fault(f"{STROKES_FILE} of the model folder names no classes.")
        kind = kind_of_steps(scale, recipe.data)
        network = SketchClassifier(recipe.model, StrokeShape(scale.steps, kind.tokens), len(scale.classes))
        return cls(network, kind, recipe.data, scale, recipe.training)

    # Training and evaluation

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
        return self.model(self._steps(batch), batch.lengths)

    def _steps(self, batch: LabelledDrawings) -> Tensor:
        """Return what the network reads: features of moves, or tokens."""
        steps = batch.steps
        if isinstance(self.kind, Moves):
            moves = steps[..., :2].to(self.model.dtype) @ batch.maps.to(self.model.dtype) / self.kind.scale
            steps = features_of(moves, steps[..., 2])
        return steps

    # For people

    def read(self, inputs: Sequence[GivenDrawing]) -> LabelledDrawings:
        """Read the first drawing in each file, or moves (move, 3) in whole units."""
        drawings = self.reader.read(inputs)
        return plain_batch(drawings, np.arange(len(drawings)), self.scale.steps).to(self.device)

    @torch.no_grad()
    def answers(self, batch: LabelledDrawings) -> list[Answer]:
        return answers_among(self.scale.classes, self._log_probabilities(batch))

    def decision(self, item: GivenDrawing, output: str | None, place: int | None, word: str | None) -> Decision:
        """Return the decision for a class of a drawing; its units are the steps of the pen."""
        classes = self.scale.classes
        if place is not None or word is not None:
            raise Fault("This model gives one class for a drawing, which has no places; omit place and word.")
        if output is not None and output not in classes:
            raise Fault(f"There is no class '{output[:60]}'; the classes are {', '.join(classes[:20])}.")
        batch = self.read([item])
        with torch.no_grad():
            entered = self.model.enter(self._steps(batch))[0, : int(batch.lengths[0])]

        def scores(vectors: Tensor) -> Tensor:
            return self.model.classify(vectors, batch.lengths.new_full((len(vectors),), vectors.shape[1]))

        with torch.no_grad():
            number = int(scores(entered[None]).argmax()) if output is None else list(classes).index(output)

        @torch.no_grad()
        def without(units: Sequence[int]) -> float:
            kept = [step for step in range(len(entered)) if step not in set(units)]
            if not kept:
                raise Fault("Taking out every unit leaves no input to read; keep at least one.")
            return float(scores(entered[None, kept])[0, number])

        names = [f"step {step + 1}" for step in range(len(entered))]
        text = Path(item).name if isinstance(item, str | Path) else "The drawing"
        return Decision(names, classes[number], entered, lambda copies: scores(copies)[:, number], without, text=text)

    def sides(self, batch: LabelledDrawings, outputs: Sequence[Any]) -> dict[str, Side]:
        """Return the points that the pen reaches after each step."""
        return self.stroke_side(batch, is_behind=True)

    def quote(self, batch: LabelledDrawings) -> str:
        return f"a drawing of {int(batch.lengths[0])} steps, labelled '{self.scale.classes[int(batch.labels[0])]}'"

    def facts(self) -> dict[str, Any]:
        return {"classes": len(self.scale.classes)} | super().facts()
