"""The task of drawing: batches of pictures, a bound in nats as the measure, and pictures drawn from nothing."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from regard.base.progress import Progress, Remark
from regard.data.pictures.binary import binarise
from regard.data.pictures.fitting import fit_picture_files, fitting_remark
from regard.data.pictures.prepare import (
    PictureLabels,
    PreparedPictures,
    check_files_there,
    open_labels,
    prepare_pictures,
)
from regard.data.prepared import SPLITS
from regard.models.draw.filters import Picture
from regard.models.draw.network import Noise, Redrawn
from regard.protocols import Loss, Measure, Tally, mean
from regard.tasks.base import Files, NetworkTask, build_network, check_size
from regard.tasks.drawing.options import DrawingRecipe, DrawingTraining
from regard.tasks.glimpses.batches import PictureBatch, picture_batches
from regard.tasks.glimpses.task import UNKNOWN
from regard.viewing.drawings import DrawnCanvas, WritingWindow
from regard.viewing.sides import Cells, Side, Steps


class Bound(NamedTuple):
    """The two parts of the bound of each picture, in nats."""

    reconstruction: Float[Tensor, " batch"]  # L^x
    divergence: Float[Tensor, " batch"]  # L^z

    @property
    def total(self) -> Float[Tensor, " batch"]:
        return self.reconstruction + self.divergence


def bound(redrawn: Redrawn, pictures: Picture) -> Bound:
    """Return L^x and L^z of binary pictures."""
    surprise = F.binary_cross_entropy_with_logits(redrawn.canvas, pictures, reduction="none").sum(dim=(1, 2))
    means, log_variances = redrawn.means, 2 * redrawn.log_deviations
    divergence = (means**2 + log_variances.exp() - log_variances - 1).sum(dim=(1, 2)) / 2
    return Bound(surprise, divergence)


def log_weights(redrawn: Redrawn, pictures: Picture, noise: Noise) -> Float[Tensor, " batch"]:
    """Return log p(x | z) + log p(z) − log q(z | x) of the latents z = μ + σ ε given by this noise ε."""
    latents = redrawn.means + redrawn.log_deviations.exp() * noise
    of_latents = ((noise**2 - latents**2) / 2 + redrawn.log_deviations).sum(dim=(1, 2))
    return of_latents - bound(redrawn, pictures).reconstruction


def tightened_bound(weights: Float[Tensor, "sample batch"]) -> Float[Tensor, " batch"]:
    """Return −log of the mean importance weight: a bound that approaches −log p(x) with more samples.

    Burda et al. 2016, Importance Weighted Autoencoders, equation 8.
    """
    return math.log(len(weights)) - torch.logsumexp(weights, dim=0)


WHITE = 128  # of 255: from here on, a pixel of a user's picture is white


class PictureDrawing(NetworkTask[PreparedPictures]):
    """A network that draws, and the size of its pictures."""

    MEASURES: ClassVar[tuple[str, ...]] = ("bound", "reconstruction", "divergence")
    unit = "pictures"

    def __init__(self, model: Any, labels: PictureLabels, training: DrawingTraining) -> None:
        super().__init__(model)
        self.labels, self.training_options = labels, training
        self.model.compiles_step, self.model.in_tf32 = training.compile_step, training.tf32

    # Construction

    @classmethod
    def check(cls, recipe: DrawingRecipe, device: torch.device, folder: Path | None) -> None:
        check_files_there(recipe.data.grey, folder)
        check_size(recipe, 1, 1)

    @classmethod
    def prepare(
        cls, recipe: DrawingRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedPictures:
        prepared = prepare_pictures(recipe.data.grey, folder, progress)
        if start is not None:
            open_labels(start).refuse_other_sizes(prepared.labels)
        return prepared

    @classmethod
    def build(cls, recipe: DrawingRecipe, files: Files) -> "PictureDrawing":
        labels = open_labels(files)
        return cls(build_network(recipe, labels.height, labels.width), labels, recipe.training)

    # Training and evaluation

    def learn_from(self, prepared: PreparedPictures, recipe: DrawingRecipe) -> None:
        """Take the pictures, binarised; the number of a file among the splits seeds its random pixels."""
        splits, of_files = {}, dict[int, np.ndarray]()
        for number, split in enumerate(SPLITS):
            if split in prepared.splits:
                grey = prepared.splits[split]
                if id(grey.pictures) not in of_files:  # held-out pictures share the file of the training pictures
                    of_files[id(grey.pictures)] = binarise(grey.pictures, [recipe.data.binary_seed, number])
                splits[split] = replace(grey, pictures=of_files[id(grey.pictures)])
        self._material = replace(prepared, splits=splits)

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[PictureBatch]:
        return picture_batches(self.material, split, rows, seed, epoch, start)

    def loss(self, batch: PictureBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        pictures, options = batch.pixels(self.model.dtype), self.model.options
        noise = torch.randn(batch.rows, options.steps, options.latent, dtype=pictures.dtype, device=pictures.device)
        parts = bound(self.model(pictures, noise), pictures)
        rows = float(batch.rows)
        tallies = {
            "reconstruction": Tally((parts.reconstruction.detach().sum(), rows), mean),
            "divergence": Tally((parts.divergence.detach().sum(), rows), mean),
        }
        training = self.training_options
        if not training.divergence_warmup:
            return Loss(parts.total.sum(), batch.rows, tallies)
        # The number of steps so far, carried on so that a captured pass knows it, each piece its own. A batch may be
        # split for lack of memory, so rows are counted.
        done = pictures.new_zeros(()) if carry is None else carry["batches"]
        weight = (done / training.divergence_warmup).clamp(max=1)
        total = (parts.reconstruction + weight * parts.divergence).sum()
        share = batch.rows * training.pieces / (training.batch * training.accumulate)
        return Loss(total, batch.rows, tallies, {"batches": done + share})

    @torch.no_grad()
    def measure(self, batch: PictureBatch) -> dict[str, Measure]:
        totals = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in self.sums_of_rows(batch).items()}
        samples = self.training_options.importance
        signatures = {"bound": "nats a picture" + (f", of {samples} importance samples" if samples > 1 else "")}
        return {
            name: Measure(Tally(totals[name], mean), "lower", signatures.get(name, "nats a picture"))
            for name in self.MEASURES
        }

    @torch.no_grad()
    def sums_of_rows(self, batch: PictureBatch) -> dict[str, Tensor]:
        """Return each picture's contribution; its noise depends only on its number, not on the batch."""
        pictures, options = batch.pixels(self.model.dtype), self.model.options
        samples = self.training_options.importance
        chances = [torch.Generator().manual_seed(int(number)) for number in batch.numbers]
        bounds, weights = [], []
        for _ in range(samples):
            samples_of_noise = [torch.randn(options.steps, options.latent, generator=chance) for chance in chances]
            noise = torch.stack(samples_of_noise).to(self.device, self.model.dtype)
            redrawn = self.model(pictures, noise)
            bounds.append(torch.stack(bound(redrawn, pictures)).double())
            weights.append(log_weights(redrawn, pictures, noise).double())
        reconstruction, divergence = torch.stack(bounds).mean(dim=0)
        total = reconstruction + divergence if samples == 1 else tightened_bound(torch.stack(weights))
        parts = {"bound": total, "reconstruction": reconstruction, "divergence": divergence}
        return {name: torch.stack([part, torch.ones_like(part)], dim=1) for name, part in parts.items()}

    # For people

    @torch.no_grad()
    def draw(self, count: int, chance: torch.Generator) -> list[DrawnCanvas]:
        options = self.model.options
        latents = torch.stack([torch.randn(options.steps, options.latent, generator=chance) for _ in range(count)])
        canvases, windows = self.model.draw(latents.to(self.device, self.model.dtype))
        drawings = []
        for number, canvas in enumerate(canvases.float().cpu().numpy()):
            of_steps = None if windows is None else [WritingWindow(*window) for window in windows[number].tolist()]
            drawings.append(DrawnCanvas(canvas, of_steps))
        return drawings

    def read(self, inputs: Sequence[str | Path]) -> PictureBatch:
        """Read pictures from files, prepared like the training pictures and binarised."""
        grey = fit_picture_files(inputs, self.labels.expected)
        pictures = torch.from_numpy(np.where(grey >= WHITE, 255, 0).astype(np.uint8))
        return PictureBatch(pictures, torch.full((len(inputs),), UNKNOWN), torch.arange(len(inputs))).to(self.device)

    def remark_on(self, given: str | Path) -> str:
        return fitting_remark(given, self.labels.expected)

    def redraw(self, batch: PictureBatch) -> list[float]:
        return self.sums_of_rows(batch)["bound"][:, 0].tolist()

    def sides(self, batch: PictureBatch, outputs: Sequence[Any]) -> dict[str, Side]:
        steps = [f"step {number + 1}" for number in range(self.model.options.steps)]
        return {"picture": Cells(batch.pixels(torch.float32)[0].cpu().numpy()), "steps": Steps(steps)}

    def quote(self, batch: PictureBatch) -> str:
        return f"picture {int(batch.numbers[0]) + 1}"

    def facts(self) -> dict[str, Any]:
        return {"height": self.labels.height, "width": self.labels.width, "steps": self.model.options.steps}

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of a drawing, whose size is fixed by the model."""
        return {"multiplications": self.model.multiplications()}
