"""A training that is only checked: its recipe, its batches and its memory, on any number of processes, without them."""

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn

from regard.base.progress import Remark, silent
from regard.base.recipe import Recipe
from regard.protocols import Divisible
from regard.runs import open as runs
from regard.runs.together import check_batches
from regard.training import optimizers
from regard.training.guards import Splitter
from regard.training.passes import Passes
from regard.training.pieces import Gradients
from regard.training.ranks import Ranks
from regard.training.updates import Place, Placed

MOST_BATCHES, MOST_SECONDS = 200, 1.0  # that are looked at


class PretendedRanks(Ranks):
    """The first of so many ranks, all of which do and say what it does."""

    def __init__(self, size: int) -> None:
        self.size = size

    def gather(self, note: Any) -> list[Any]:
        return [note] * self.size


def dry_run(recipe: Recipe, processes: int, remark: Remark) -> None:
    """Prepare the data in a temporary folder, look at batches, and make one step as the first of so many ranks."""
    with TemporaryDirectory() as folder:
        run = runs.open_run(recipe, Path(folder) / "run", False, silent, lambda sentence: None)
        for line in [*run.prepared.report, *runs.describe(run)]:
            remark(line)
        if not isinstance(run.task, nn.Module):
            return
        batches = list(_batches(run))
        check_batches(batches, recipe.training.pieces)
        remark(_rows_in_words(batches, recipe.training.pieces, processes))
        largest = max(batches, key=lambda batch: batch.rows if isinstance(batch, Divisible) else 1)
        remark(_memory_in_words(run, largest, processes))


def _batches(run: runs.Run) -> Iterator[Any]:
    """Batches of the first epoch, as many as there is time for."""
    end = time.monotonic() + MOST_SECONDS
    for batch in islice(run.task.batches("train", run.recipe.seed, 0, 0), MOST_BATCHES):
        yield batch
        if time.monotonic() > end:
            return


def _rows_in_words(batches: list[Any], pieces: int, processes: int) -> str:
    rows = [batch.rows if isinstance(batch, Divisible) else 1 for batch in batches]
    share = pieces // processes
    text = (
        f"{len(rows)} batches of {min(rows)} to {max(rows)} rows were looked at; each is cut into {pieces} "
        f"{'piece' if pieces == 1 else 'pieces'}, {share} for each of {processes} processes"
    )
    few = sum(each < pieces for each in rows)
    return text + (
        f"; {few / len(rows):.0%} of the batches have too few rows for that, and leave some idle" if few else ""
    )


def _memory_in_words(run: runs.Run, batch: Any, processes: int) -> str:
    """What one process holds, from a step on the largest of these batches."""
    task, training, seed = run.task, run.recipe.training, run.recipe.seed
    ranks = PretendedRanks(processes)
    passes = Passes(task, task, training.precision)
    gradients = Gradients(task, passes, training.pieces, seed, ranks, Splitter(lambda text: None, passes.forget, ranks))
    optimizer = optimizers.build(task, training.optimizer)
    sizes: dict[int, int] = {}

    def count(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    task.train()
    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
        losses = gradients.take([Placed(Place(0, 1), gradients.cut(batch))], 1)
    optimizers.scale_gradients(task, losses.count, training.optimizer.clip)
    optimizers.step(optimizer, 0.0)
    own = _bytes(task.parameters())
    kept = {
        "weights": own,
        "gradients": own * (1 if training.pieces == 1 else 2 + training.pieces // processes),
        "optimiser": _bytes(optimizers.state_tensors(optimizer).values()),
        "activations": sum(sizes.values()) - sum(sizes.get(each.data_ptr(), 0) for each in task.parameters()),
    }
    parts = ", ".join(f"{name} {size / 1e6:,.0f}" for name, size in kept.items())
    return f"each process holds about {sum(kept.values()) / 1e6:,.0f} MB beside torch itself: {parts}"


def _bytes(tensors: Any) -> int:
    return sum(each.numel() * each.element_size() for each in tensors)
