"""The warm-up of the divergence while a network learns to draw."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from regard.data.pictures.prepare import PictureLabels
from regard.models.draw.network import Draw, DrawOptions
from regard.tasks.drawing.options import DrawingTraining
from regard.tasks.drawing.task import PictureDrawing
from regard.tasks.glimpses.batches import PictureBatch


def weights_of(rows_of_batches: Sequence[int], **training: Any) -> list[float]:
    """Return the divergence's weight in successive batches, or parts of them, with these numbers of rows."""
    torch.manual_seed(1)
    labels = PictureLabels(classes=["0", "1"], height=4, width=4)
    network = Draw(DrawOptions(steps=2, width=3, latent=2), 4, 4)
    task = PictureDrawing(network, labels, DrawingTraining(batch=2, divergence_warmup=2, **training))
    carry, weights = None, []
    for rows in rows_of_batches:
        pictures = torch.randint(2, (rows, 4, 4), dtype=torch.uint8) * 255
        loss = task.loss(PictureBatch(pictures, torch.zeros(rows, dtype=torch.long), torch.arange(rows)), carry)
        parts = {name: float(tally.sums[0]) for name, tally in loss.tallies.items()}
        weights.append(round((float(loss.total.detach()) - parts["reconstruction"]) / parts["divergence"], 3))
        carry = loss.carry
    return weights


def test_the_divergence_counts_by_the_batches_so_far_a_part_of_one_as_its_share() -> None:
    """Two halves of a batch, then a whole one: the weight is 0 / 2, ½ / 2 and 1 / 2, and never more than one."""
    assert weights_of((1, 1, 2, 2, 2)) == [0, 0.25, 0.5, 1, 1]


@pytest.mark.parametrize(
    ("training", "rows", "weights"),
    [({"pieces": 2}, (1, 1, 1), [0, 0.5, 1]), ({"accumulate": 2}, (2, 2, 2), [0, 0.25, 0.5])],
)
def test_it_takes_as_many_steps_in_pieces_and_of_several_batches(
    training: dict[str, int], rows: tuple[int, ...], weights: list[float]
) -> None:
    """Each of two pieces carries its own count and has half of every batch; a step may have two batches."""
    assert weights_of(rows, **training) == weights
