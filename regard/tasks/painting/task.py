"""The task of painting: batches of pictures with captions, nats and errors as measures, and pictures for captions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from regard.attention.watch import is_watched, without_watching
from regard.base.faults import Fault, TextFault
from regard.base.progress import Progress, Remark
from regard.data.painting.prepare import PAD, CaptionWords, PreparedPainting, open_words, prepare_painting
from regard.data.pictures.prepare import check_files_there
from regard.protocols import Loss, Measure, Tally, mean
from regard.tasks.base import Files, NetworkTask, build_network, check_size
from regard.tasks.held_batch import HeldBatch
from regard.tasks.painting.options import PaintingRecipe, PaintingTraining
from regard.viewing.drawings import DrawnCanvas
from regard.viewing.sides import Cells, Side, Words


@dataclass(frozen=True)
class PaintingBatch(HeldBatch):
    """Some pictures with one caption each; `numbers` are their rows in the data."""

    pictures: UInt8[Tensor, "batch channel height width"]
    captions: Int[Tensor, "batch word"]
    numbers: Int[Tensor, " batch"]

    @property
    def rows(self) -> int:
        return self.captions.shape[0]

    @property
    def lengths(self) -> Int[Tensor, " batch"]:
        """Number of words in each caption."""
        return (self.captions != PAD).sum(dim=1)

    def pixels(self, dtype: torch.dtype) -> Float[Tensor, "batch channel height width"]:
        """Return the pixels for a network of this precision: 0 is dark, 1 is light."""
        return self.pictures.to(dtype) / 255

    def split(self, parts: int) -> list["PaintingBatch"]:
        """Return these rows in `parts` smaller batches."""
        chunks = (tensor.chunk(parts) for tensor in (self.pictures, self.captions, self.numbers))
        return [PaintingBatch(*chunk) for chunk in zip(*chunks, strict=True)]

    # For captured passes

    @property
    def count(self) -> int:
        return self.rows

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.pictures, self.captions

    def holding(self, tensors: tuple[Tensor, ...]) -> "PaintingBatch":
        pictures, captions = tensors
        return PaintingBatch(pictures, captions, self.numbers)


def painting_batches(
    prepared: PreparedPainting, split: str, batch: int, seed: int, epoch: int, start: int
) -> Iterator[PaintingBatch]:
    """Yield the batches of an epoch from number `start` on, on the host.

    Training pictures come in a new order in every epoch, each with a random one of its captions; the others never
    change.
    """
    source = prepared.splits[split]
    rows, several = source.rows, source.captions.shape[1]
    chosen = rows % several
    if split == "train":
        chance = np.random.default_rng([seed, epoch])
        rows, chosen = chance.permutation(rows), chance.integers(0, several, len(rows))
    for first in range(start * batch, len(rows), batch):
        numbers, which = rows[first : first + batch], chosen[first : first + batch]
        yield PaintingBatch(
            *map(torch.from_numpy, (source.pictures[numbers], source.captions[numbers, which], numbers))
        )


FIRST_PICTURES = 256  # that the first codes are taken from
_UNPAINTED = 0.5  # brightness of cells still to come


class Painting(NetworkTask[PreparedPainting]):
    """A network that paints, the words it reads, and the shape of its pictures."""

    MEASURES: ClassVar[tuple[str, ...]] = ("loss", "nats", "error")
    unit = "pictures"

    def __init__(self, model: Any, words: CaptionWords, training: PaintingTraining) -> None:
        super().__init__(model)
        self.words, self.training_options = words, training

    # Construction

    @classmethod
    def check(cls, recipe: PaintingRecipe, device: torch.device, folder: Path | None) -> None:
        if recipe.data.pictures is not None:
            check_files_there(recipe.data.pictures, folder)
        side = 2**recipe.model.halvings
        if recipe.data.shapes is not None:
            _refuse_uneven(recipe, recipe.data.shapes.side, recipe.data.shapes.side)
        check_size(recipe, 1, 1, 1, side, side)

    @classmethod
    def prepare(
        cls, recipe: PaintingRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedPainting:
        prepared = prepare_painting(recipe.data, folder, progress)
        if start is not None and open_words(start) != prepared.words:
            raise Fault("The model to start from reads other words or paints pictures of another shape.")
        return prepared

    @classmethod
    def build(cls, recipe: PaintingRecipe, files: Files) -> "Painting":
        words = open_words(files)
        _refuse_uneven(recipe, words.height, words.width)
        form = (len(words.words), words.longest, words.channels, words.height, words.width)
        return cls(build_network(recipe, *form), words, recipe.training)

    def begin_with(self, prepared: PreparedPainting, recipe: PaintingRecipe) -> None:
        """Take the first codes of the codebook from training pictures."""
        first = next(painting_batches(prepared, "train", FIRST_PICTURES, recipe.seed, 0, 0)).to(self.device)
        chance = torch.Generator().manual_seed(recipe.seed)
        self.model.codebook.begin_with(first.pixels(self.model.dtype), chance)

    # Training and evaluation

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[PaintingBatch]:
        return painting_batches(self.material, split, rows, seed, epoch, start)

    def loss(self, batch: PaintingBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        """Return the nats of the codes plus the codebook's losses; neither part has gradients in the other."""
        nats, coded = self.model(batch.pixels(self.model.dtype), batch.captions, batch.lengths)
        rows = float(batch.rows)
        return Loss(
            (nats + coded.error + coded.distance).sum(),
            batch.rows,
            {
                "nats": Tally((nats.detach().sum(), rows), mean),
                "error": Tally((coded.error.detach().sum(), rows), mean),
                "distance": Tally((coded.distance.detach().sum(), rows), mean),
            },
        )

    @torch.no_grad()
    def measure(self, batch: PaintingBatch) -> dict[str, Measure]:
        totals = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in self.sums_of_rows(batch).items()}
        signatures = {
            "loss": "nats, error and distance to the codes",
            "nats": "nats of the codes of a picture",
            "error": "squared error of a picture, coded and decoded",
        }
        return {name: Measure(Tally(totals[name], mean), "lower", signatures[name]) for name in self.MEASURES}

    @torch.no_grad()
    def sums_of_rows(self, batch: PaintingBatch) -> dict[str, Tensor]:
        nats, coded = self.model(batch.pixels(self.model.dtype), batch.captions, batch.lengths)
        parts = {"loss": nats + coded.error + coded.distance, "nats": nats, "error": coded.error}
        return {
            name: torch.stack([part.double(), torch.ones_like(part).double()], dim=1) for name, part in parts.items()
        }

    # For people

    def read(self, inputs: Sequence[str]) -> PaintingBatch:
        """Read captions as people write them; their pictures are blank."""
        rows = []
        for number, text in enumerate(inputs):
            try:
                rows.append(torch.tensor(self.words.numbers(str(text))))
            except Fault as fault:
                raise TextFault(number, str(fault)) from None
        captions = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)
        form = (self.words.channels, self.words.height, self.words.width)
        blank = torch.zeros(len(inputs), *form, dtype=torch.uint8)
        return PaintingBatch(blank, captions, torch.arange(len(inputs))).to(self.device)

    @torch.no_grad()
    def paint(self, batch: PaintingBatch, chance: torch.Generator, temperature: float = 1.0) -> list[DrawnCanvas]:
        """Paint a picture for each caption of a batch; watchers see one more pass over the sampled codes."""
        noise = torch.stack([torch.rand(self.model.cells, generator=chance) for _ in range(batch.rows)])
        with without_watching():
            codes = self.model.paint(batch.captions, batch.lengths, noise.to(self.device), temperature)
        if is_watched():
            self.model.nats(codes, batch.captions, batch.lengths)
        pictures = self.model.codebook.decode(codes).float().cpu().numpy()
        return [DrawnCanvas(self._steps_of(picture.transpose(1, 2, 0))) for picture in pictures]

    def _steps_of(self, picture: np.ndarray) -> np.ndarray:
        """Return the picture (height, width, channel) after each cell; later cells are grey."""
        rows, columns = self.model.grid
        cell = 2**self.model.options.halvings
        order = np.arange(rows * columns).reshape(rows, columns).repeat(cell, axis=0).repeat(cell, axis=1)
        shown = order <= np.arange(rows * columns)[:, None, None]
        steps = np.where(shown[..., None], picture, _UNPAINTED)
        return steps if self.words.channels == 3 else steps[..., 0]

    def sides(self, batch: PaintingBatch, outputs: Sequence[Any]) -> dict[str, Side]:
        (output,) = outputs
        words = [self.words.words[number - 1] for number in batch.captions[0].tolist() if number != PAD]
        picture = np.clip(output.canvases[-1], 0, 1)
        return {
            "source": Words(words, words, range(len(words))),
            "target": Cells(picture, self.model.grid, looked_back_at=True),
        }

    def quote(self, batch: PaintingBatch) -> str:
        words = [self.words.words[number - 1] for number in batch.captions[0].tolist() if number != PAD]
        return f"picture {int(batch.numbers[0]) + 1}, '{' '.join(words)}'"

    def facts(self) -> dict[str, Any]:
        form = {"height": self.words.height, "width": self.words.width, "channels": self.words.channels}
        return {"words": len(self.words.words), "cells": self.model.cells, **form}

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of writing a picture of `size` cells with the Transformer."""
        return {"multiplications": self.model.transformer.cost(size)["multiplications"]}


def _refuse_uneven(recipe: PaintingRecipe, height: int, width: int) -> None:
    cell = 2**recipe.model.halvings
    if height % cell or width % cell:
        raise Fault(
            f"model.halvings is {recipe.model.halvings}, which makes cells of {cell} × {cell} pixels; pictures of"
            f" {height} × {width} cannot be divided into these."
        )
