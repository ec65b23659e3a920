"""How the divergence comes to count while a network learns to draw."""

import torch

from regard.data.pictures.prepare import PictureLabels
from regard.models.draw.network import Draw, DrawOptions
from regard.tasks.drawing.options import DrawingTraining
from regard.tasks.drawing.task import PictureDrawing
from regard.tasks.glimpses.batches import PictureBatch


def test_the_divergence_counts_by_the_batches_so_far_a_piece_of_one_as_its_share() -> None:
    """Two pieces of half a batch, then a whole one: it counts 0 / 2, ½ / 2 and 1 / 2, and no more than once."""
    torch.manual_seed(1)
    labels = PictureLabels(classes=["0", "1"], height=4, width=4)
    network = Draw(DrawOptions(steps=2, width=3, latent=2), 4, 4)
    task = PictureDrawing(network, labels, DrawingTraining(batch=2, divergence_warmup=2))

    def weight(rows: int, carry: dict[str, torch.Tensor] | None) -> tuple[float, dict[str, torch.Tensor] | None]:
        pictures = torch.randint(2, (rows, 4, 4), dtype=torch.uint8) * 255
        loss = task.loss(PictureBatch(pictures, torch.zeros(rows, dtype=torch.long), torch.arange(rows)), carry)
        parts = {name: float(tally.sums[0]) for name, tally in loss.tallies.items()}
        return (float(loss.total.detach()) - parts["reconstruction"]) / parts["divergence"], loss.carry

    carry, found = None, []
    for rows in (1, 1, 2, 2, 2):
        counted, carry = weight(rows, carry)
        found.append(round(counted, 3))
    assert found == [0, 0.25, 0.5, 1, 1]
