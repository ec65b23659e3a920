"""The task of picture classification: batches of pictures, a class as the answer, and windows of attention."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.base.progress import Progress, Remark
from regard.data.pictures.fitting import fit_picture_files, fitting_remark
from regard.data.pictures.prepare import (
    PictureLabels,
    PreparedPictures,
    check_files_there,
    open_labels,
    prepare_pictures,
)
from regard.models.picture_network import PictureNetwork
from regard.models.ram import RAM
from regard.protocols import Answer, Loss, Measure, Tally
from regard.tasks.base import Files, NetworkTask, build_network, check_size
from regard.tasks.classes import CLASS_MEASURES, answers_among, measures_of_classes, sums_of_classes
from regard.tasks.glimpses.batches import PictureBatch, picture_batches
from regard.tasks.glimpses.options import GlimpsesRecipe, GlimpsesTraining
from regard.viewing.sides import Cells, Side, Steps

UNKNOWN = -1  # the class of a picture that people ask about


class Glimpses(NetworkTask[PreparedPictures]):
    """A `PictureNetwork`, the names of its classes, and how it learns them."""

    MEASURES: ClassVar[tuple[str, ...]] = CLASS_MEASURES
    unit = "pictures"

    def __init__(self, model: Any, labels: PictureLabels, training: GlimpsesTraining) -> None:
        super().__init__(model)
        self.labels, self.training_options = labels, training

    # Construction

    @classmethod
    def check(cls, recipe: GlimpsesRecipe, device: torch.device, folder: Path | None) -> None:
        check_files_there(recipe.data, folder)
        check_size(recipe, 2, 1, 1)

    @classmethod
    def prepare(
        cls, recipe: GlimpsesRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedPictures:
        prepared = prepare_pictures(recipe.data, folder, progress)
        if start is not None:
            open_labels(start).refuse_others(prepared.labels)
        return prepared

    @classmethod
    def build(cls, recipe: GlimpsesRecipe, files: Files) -> "Glimpses":
        labels = open_labels(files)
        network = build_network(recipe, len(labels.classes), labels.height, labels.width)
        return cls(network, labels, recipe.training)

    # Training and evaluation

    def host_batches(self, split: str, rows: int, seed: int, epoch: int, start: int) -> Iterator[PictureBatch]:
        return picture_batches(self.material, split, rows, seed, epoch, start)

    def loss(self, batch: PictureBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        if self.model.chooses:
            return reinforce(self.model, batch, self.training_options.samples, self.training_options.reward)
        return cross_entropy(self.model, batch)

    @torch.no_grad()
    def measure(self, batch: PictureBatch) -> dict[str, Measure]:
        return measures_of_classes(self.sums_of_rows(batch), "pictures")

    @torch.no_grad()
    def sums_of_rows(self, batch: PictureBatch) -> dict[str, Tensor]:
        return sums_of_classes(self.model.answer(batch.pixels(self.model.dtype)), batch.labels)

    # For people

    def read(self, inputs: Sequence[str | Path]) -> PictureBatch:
        """Read pictures from files, prepared like the training pictures."""
        pictures = fit_picture_files(inputs, self.labels.expected)
        unknown, numbers = torch.full((len(inputs),), UNKNOWN), torch.arange(len(inputs))
        return PictureBatch(torch.from_numpy(pictures), unknown, numbers).to(self.device)

    def remark_on(self, given: str | Path) -> str:
        return fitting_remark(given, self.labels.expected)

    @torch.no_grad()
    def answers(self, batch: PictureBatch) -> list[Answer]:
        pictures = batch.pixels(self.model.dtype)
        answers = answers_among(self.labels.classes, self.model.answer(pictures))
        self.model.note_answer(pictures)
        return answers

    def sides(self, batch: PictureBatch, outputs: Sequence[Any]) -> dict[str, Side]:
        picture = batch.pixels(torch.float32)[0].cpu().numpy()
        edges = [(0, -side % self.model.patch) for side in picture.shape]  # as the model pads them
        cells = Cells(np.pad(picture, edges), self.model.grid)
        sides: dict[str, Side] = dict.fromkeys(self.model.picture_sides, cells)
        return sides | {name: Steps(names) for name, names in self.model.step_sides().items()}

    def extents(self, batch: PictureBatch) -> dict[str, Tensor]:
        """Return the number of patches that attend to each other: all, since pictures have one size."""
        if self.model.grid is None:
            return {}
        return {"source": torch.full((batch.rows,), math.prod(self.model.grid))}

    def quote(self, batch: PictureBatch) -> str:
        return f"picture {int(batch.numbers[0]) + 1}, labelled '{self.labels.classes[int(batch.labels[0])]}'"

    def facts(self) -> dict[str, Any]:
        return {"classes": len(self.labels.classes), "height": self.labels.height, "width": self.labels.width}

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of an answer about a picture of `size` by `size` pixels."""
        return {"multiplications": self.model.multiplications(size, size)}


Reward = Literal["right", "log-probability"]


def cross_entropy(network: PictureNetwork, batch: PictureBatch) -> Loss:
    """Return −Σ log p(y | x) for a network whose answer is deterministic."""
    return Loss(F.nll_loss(network.answer(batch.pixels(network.dtype)), batch.labels, reduction="sum"), batch.rows)


def reinforce(network: RAM, batch: PictureBatch, samples: int, reward: Reward) -> Loss:
    """Return the hybrid loss of Mnih et al. 2014, section 3.2, over M = `samples` sampled paths of each picture:

        1/M Σ_m [ −log p(y | path m) − Σ_t (R − b_t) log π(l_t) + mean_t (R − b_t)² ]

    The first part teaches glimpse, core and action, the second (equation 3, R − b_t without gradient) the location, the
    third the baseline. R comes after the last glimpse, so every choice of a path has the same: 1 for the right answer
    and 0 for another; or log p(y | path), with which the first two parts are the gradient of −E[log p(y | path)], a
    bound of −log p(y) by Jensen's inequality.

    The value of what is returned is its first part alone: that of the others says nothing about how well it goes.
    """
    seen = network.explore(batch.pixels(network.dtype), samples)
    targets = batch.labels[:, None].expand(-1, samples)
    of_targets = seen.log_probabilities.gather(2, targets.unsqueeze(2)).squeeze(2)
    right = (seen.log_probabilities.argmax(dim=-1) == targets).to(of_targets.dtype)
    worth = (right if reward == "right" else of_targets).detach()
    surplus = worth.unsqueeze(-1) - seen.baselines
    policy = -(surplus.detach() * seen.log_policy).sum(dim=-1)
    baseline_error = surplus.square().mean(dim=-1)
    taught = (policy + baseline_error).sum() / samples
    paths = float(batch.rows * samples)
    return Loss(
        -of_targets.sum() / samples + taught - taught.detach(),
        batch.rows,
        {
            "reward": Tally((worth.sum(), paths), _mean_read_late),
            "baseline error": Tally((baseline_error.detach().sum(), paths), _mean_read_late),
        },
    )


def _mean_read_late(total: Tensor | float, count: float) -> float:
    """Return a mean whose sum may still be on a GPU; reading it waits for all earlier work, so it is read late."""
    return float(total) / count
