"""A training that is only checked: its recipe, its batches and its memory, on any number of processes, without them."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn

from regard.base.progress import Remark, ignore_remark, silent
from regard.base.recipe import Recipe
from regard.families import task_class
from regard.models.shapes import AllAlike, NoProducts
from regard.protocols import Divisible, Samples
from regard.runs import open as runs
from regard.training import optimizers
from regard.training.guards import Splitter
from regard.training.passes import Passes
from regard.training.pieces import Gradients
from regard.training.ranks import Ranks
from regard.training.sharding import most_at_once

MOST_BATCHES, MOST_SECONDS = 200, 1.0  # that are looked at


class PretendedRanks(Ranks):
    """The first of so many ranks, all of which do and say what it does."""

    def __init__(self, size: int) -> None:
        self.size = size

    def gather(self, note: Any) -> list[Any]:
        return [note] * self.size


def dry_run(recipe: Recipe, folder: Path | None, processes: int, remark: Remark) -> None:
    """Look at batches, and at what the first of so many ranks would hold in memory for the largest of them.

    The data is that of the run in `folder`, if it goes on; that of a new run is prepared in a temporary folder, the
    first of it where there may be much.
    """
    with TemporaryDirectory() as place:
        whole = recipe
        if folder is None and isinstance(kind := task_class(recipe), Samples):
            recipe = kind.sample(recipe, Path(place), remark)
        found = Path(place) / "run" if folder is None else folder
        with AllAlike():
            run = runs.open_run(recipe, found, folder is not None, silent, ignore_remark, writes=False)
        report = run.prepared.report if recipe is whole else run.prepared.report[:1]  # without names of passing files
        for line in [*report, *runs.describe(run)]:
            remark(line)
        if not isinstance(run.task, nn.Module):
            return
        batches = list(_batches(run))
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
    sizes = f"{min(rows)} rows" if min(rows) == max(rows) else f"{min(rows)} to {max(rows)} rows"
    text = f"{len(rows)} batches of {sizes} were looked at" if len(rows) > 1 else f"one batch of {sizes} was looked at"
    if pieces > 1:
        share = f"{pieces // processes} for each of {processes} processes" if processes > 1 else "all for one process"
        text += f"; each is cut into {pieces} pieces, {share}"
    few = sum(each < pieces for each in rows)
    return text + (
        f"; {few / len(rows):.0%} of the batches have too few rows for that, and leave some idle" if few else ""
    )


def _memory_in_words(run: runs.Run, batch: Any, processes: int) -> str:
    """Describe the memory of one process, from the loss of its first piece of this batch."""
    task, training, seed = run.task, run.recipe.training, run.recipe.seed
    ranks = PretendedRanks(processes)
    passes = Passes(task, task, training.precision)
    gradients = Gradients(task, passes, training.pieces, seed, ranks, Splitter(lambda text: None, passes.forget, ranks))
    sizes: dict[int, int] = {}

    def count(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    task.train()
    with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor), NoProducts():
        passes.forward(next(iter(gradients.cut(batch).values())), None)
    weights, learnt = _bytes(task.parameters()), _bytes(passes.parameters)
    remembered = learnt * optimizers.numbers_per_weight(training.optimizer)
    if training.sharded and processes > 1:  # its share, and for a while what is whole at once
        at_once = most_at_once(task)
        whole, whole_learnt = _bytes(at_once), _bytes(each for each in at_once if each.requires_grad)
        own = {
            "weights": whole + weights // processes,
            "gradients": whole_learnt + learnt // processes,
            "optimiser": remembered // processes,
        }
    else:
        rows = 1 if training.pieces == 1 else 2 + training.pieces // processes
        own = {"weights": weights, "gradients": learnt * rows, "optimiser": remembered}
    places = {each.untyped_storage().data_ptr() for each in task.parameters()}
    kept = own | {"activations": sum(size for place, size in sizes.items() if place not in places)}
    parts = ", ".join(f"{name} {size / 1e6:,.0f}" for name, size in kept.items())
    return f"each process holds about {sum(kept.values()) / 1e6:,.0f} MB beside torch itself: {parts}"


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(each.numel() * each.element_size() for each in tensors)
