"""Reports on a run that fails at any learning rate: the batch where it fails, and the message."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from regard.base.faults import Fault
from regard.protocols import Divisible, Quotes
from regard.training.snapshot import Trainable
from regard.training.updates import Place


def hopeless(sentence: str, task: Trainable, seed: int, places: Sequence[Place]) -> Fault:
    """Return the fault that ends a run; it names the batches at these places and quotes their row of highest loss."""
    named = " and ".join(f"batch {number} of epoch {epoch + 1}" for epoch, number in places)
    worst = max(_rows(task, seed, places), key=lambda row: _loss(task, row))
    quote = f"; its worst row is {task.quote(worst)}" if isinstance(task, Quotes) else ""
    return Fault(sentence, f"It fails at {named}{quote}.")


def _rows(task: Trainable, seed: int, places: Sequence[Place]) -> Iterator[Any]:
    """Yield the rows of the batches at these places, each as its own batch if they can be split."""
    for epoch, number in places:
        batch = next(iter(task.batches("train", seed, epoch, number - 1)))
        yield from batch.split(batch.rows) if isinstance(batch, Divisible) else [batch]


@torch.no_grad()
def _loss(task: Trainable, batch: Any) -> float:
    loss = task.loss(batch)
    value = float(loss.total) / max(int(loss.count), 1)
    return value if math.isfinite(value) else math.inf
