"""The task of reading handwriting: batches of lines, whose columns are frames for a network."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.pictures.files import read_picture_file
from regard.data.pictures.prepare import (
    LabelledPictures,
    PictureLabels,
    PreparedPictures,
    check_files_there,
    open_labels,
    prepare_pictures,
)
from regard.data.pictures.written_lines import Line, LineOptions, write_line
from regard.models.transcriber import Transcriber, as_labels, count_stacked
from regard.protocols import Answer, Loss, Measure, Tally, mean
from regard.tasks.base import Files, NetworkTask, build_network, check_size
from regard.tasks.handwriting.options import HandwritingRecipe
from regard.tasks.transcription.measures import MEASURES, measures_of, sums_of_labels
from regard.viewing.sides import Cells, Side, Steps

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class LineBatch:
    """Some lines, padded with black, and the class numbers of their signs."""

    pictures: UInt8[Tensor, "batch height width"]
    widths: Int[Tensor, " batch"]
    labels: Int[Tensor, "batch label"]
    label_counts: Int[Tensor, " batch"]

    @property
    def rows(self) -> int:
        return len(self.widths)

    def columns(self, dtype: torch.dtype) -> Float[Tensor, "batch width height"]:
        """Return the pixels for a network of this precision, column by column: 0 is black, 1 is white."""
        return self.pictures.to(dtype).transpose(1, 2) / 255

    def to(self, device: torch.device) -> "LineBatch":
        """Copy the batch to a device."""
        if device.type == "cpu":
            return self
        moved = {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in vars(self).items()}
        return LineBatch(**moved)

    def split(self, parts: int) -> list["LineBatch"]:
        """Return these rows in `parts` smaller batches."""
        chunks = zip(*(tensor.chunk(parts) for tensor in vars(self).values()), strict=True)
        return [LineBatch(*chunk) for chunk in chunks]


def batch_of(lines: Sequence[Line]) -> LineBatch:
    """Return lines of one height as one batch, on the host."""
    widths, counts = [line.pixels.shape[1] for line in lines], [len(line.labels) for line in lines]
    pictures = np.zeros((len(lines), lines[0].pixels.shape[0], max(widths)), np.uint8)
    labels = np.zeros((len(lines), max(1, *counts)), np.int64)
    for row, line in enumerate(lines):
        pictures[row, :, : widths[row]] = line.pixels
        labels[row, : counts[row]] = line.labels
    return LineBatch(*map(torch.from_numpy, (pictures, np.array(widths), labels, np.array(counts))))


def line_batches(
    signs: LabelledPictures, options: LineOptions, split: str, batch: int, seed: int, epoch: int, start: int
) -> Iterator[LineBatch]:
    """Yield the batches of an epoch from number `start` on: new training lines every epoch, the others never change."""
    learns = split == "train"
    count = options.train if learns else options.measured
    key = [SPLITS.index(split), seed, epoch] if learns else [SPLITS.index(split), options.seed]
    for first in range(start * batch, count, batch):
        numbers = range(first, min(first + batch, count))
        yield batch_of([write_line(signs, options, [*key, number]) for number in numbers])


BLANK = "between"  # shown for columns that belong to no sign


class Handwriting(NetworkTask[PreparedPictures]):
    """A network over the columns of a line, and the names of the signs that it knows."""

    MEASURES: ClassVar[tuple[str, ...]] = MEASURES
    unit = "lines"
    measured_rows = 100

    def __init__(self, model: Transcriber, labels: PictureLabels, recipe: HandwritingRecipe) -> None:
        super().__init__(model)
        self.labels, self.lines, self.training_options = labels, recipe.data.lines, recipe.training

    # Construction

    @classmethod
    def check(cls, recipe: HandwritingRecipe, device: torch.device, folder: Path | None) -> None:
        check_files_there(recipe.data.signs, folder)
        check_size(recipe, 1, 1)

    @classmethod
    def prepare(
        cls, recipe: HandwritingRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedPictures:
        prepared = prepare_pictures(recipe.data.signs, folder, progress)
        if start is not None:
            open_labels(start).refuse_others(prepared.labels)
        return prepared

    @classmethod
    def build(cls, recipe: HandwritingRecipe, files: Files) -> "Handwriting":
        labels = open_labels(files)
        return cls(build_network(recipe, labels.height, len(labels.classes)), labels, recipe)

    # Training and evaluation

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[LineBatch]:
        return line_batches(self.material.splits[split], self.lines, split, rows, seed, epoch, start)

    def hear(self, batch: LineBatch) -> Any:
        """Return the network's encoding of the lines, with columns as frames, in its own form."""
        return self.model.hear(batch.columns(self.model.dtype), batch.widths)

    def loss(self, batch: LineBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        """Return the loss of CTC, −Σ log p(l | x) over the lines; lines that do not fit their frames count as zero."""
        result = self.model.learn(self.hear(batch), batch.labels, batch.label_counts, carry)
        shown = {name: Tally(sums, mean) for name, sums in result.shown.items()}
        return Loss(result.loss, batch.rows, shown, result.carry)

    def measure(self, batch: LineBatch) -> dict[str, Measure]:
        return measures_of(self.sums_of_rows(batch))

    @torch.no_grad()
    def sums_of_rows(self, batch: LineBatch) -> dict[str, Tensor]:
        heard = self.hear(batch)
        nats = -self.model.score(heard, batch.labels, batch.label_counts)
        targets = [row[:count].tolist() for row, count in zip(batch.labels, batch.label_counts.tolist(), strict=True)]
        return sums_of_labels(self.model.best(heard), targets, nats)

    # For people

    def read(self, inputs: Sequence[str | Path]) -> LineBatch:
        """Read lines from picture files, white on black, as high as the training lines."""
        pictures = [(file, read_picture_file(Path(file))) for file in inputs]
        for name, picture in pictures:
            if picture.shape[0] != self.labels.height:
                raise Fault(
                    f"{name} is {picture.shape[0]} pixels high, but this model reads lines of {self.labels.height}."
                )
        return batch_of([Line(picture, torch.zeros(0).numpy()) for _, picture in pictures]).to(self.device)

    @torch.no_grad()
    def answers(self, batch: LineBatch) -> list[Answer]:
        """Return each line's text with its probability; watching the network shows where each sign is."""
        heard = self.hear(batch)
        labels_found = self.model.best(heard)
        labels, counts = as_labels(labels_found, self.device)
        self.model.align(heard, labels, counts)
        shares = self.model.score(heard, labels, counts).exp().tolist()
        texts = ["".join(self.labels.classes[label] for label in row) for row in labels_found]
        return [Answer(text, share, {text: share}) for text, share in zip(texts, shares, strict=True)]

    def sides(self, batch: LineBatch, outputs: Sequence[Answer]) -> dict[str, Side]:
        picture = batch.columns(torch.float32)[0].T.cpu().numpy()
        signs = list(outputs[0].answer) if outputs else []
        grid = (1, int(count_stacked(batch.widths, self.model.options.stack)[0]))
        return {"source": Cells(picture, grid), "labels": Steps([*signs, BLANK])}

    def quote(self, batch: LineBatch) -> str:
        signs = batch.labels[0, : int(batch.label_counts[0])].tolist()
        return f"a line that says '{''.join(self.labels.classes[sign] for sign in signs)}'"

    def facts(self) -> dict[str, Any]:
        return {"signs": len(self.labels.classes), "height": self.labels.height}
