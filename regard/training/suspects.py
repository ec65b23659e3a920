"""Reports on a run that fails at any learning rate: the batch at which it fails, and the sentence."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from regard.base.faults import Fault
from regard.protocols import Divisible, Quotes
from regard.training.snapshot import Trainable
from regard.training.updates import Place


def hopeless(sentence: str, task: Trainable, seed: int, places: Sequence[Place]) -> Fault:
    """The refusal to go on; it names the batches at these places and quotes the row of them with the highest loss."""
    named = " and ".join(f"batch {number} of epoch {epoch + 1}" for epoch, number in places)
    worst = max(_rows(task, seed, places), key=lambda row: _loss(task, row))
    quoted = f"; the worst of it is {task.quote(worst)}" if isinstance(task, Quotes) else ""
    return Fault(sentence, f"It fails at {named}{quoted}.")


def _rows(task: Trainable, seed: int, places: Sequence[Place]) -> Iterator[Any]:
    """The rows of the batches at these places, each as a batch of its own where they can be split."""
    for epoch, number in places:
        batch = next(iter(task.batches("train", seed, epoch, number - 1)))
        yield from batch.split(batch.rows) if isinstance(batch, Divisible) else [batch]


@torch.no_grad()
def _loss(task: Trainable, batch: Any) -> float:
    loss = task.loss(batch)
    value = float(loss.total) / max(int(loss.count), 1)
    return value if math.isfinite(value) else math.inf
