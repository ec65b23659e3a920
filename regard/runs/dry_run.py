"""A dry run: check a recipe, its batches and its memory for any number of processes, without starting them."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
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

MOST_BATCHES, MOST_SECONDS = 200, 1.0  # limits on the batches inspected


class PretendedRanks(Ranks):
    """The first of `size` ranks, where all ranks do the same."""

    def __init__(self, size: int) -> None:
        self.size = size

    def gather(self, note: Any) -> list[Any]:
        return [note] * self.size


def dry_run(recipe: Recipe, folder: Path | None, processes: int, remark: Remark) -> None:
    """Inspect batches, and the memory that the first of `processes` ranks would need for the largest of them.

    A resumed run uses the data in `folder`. For a new run, data is prepared in a temporary folder; only the first part
    of large data.
    """
    with TemporaryDirectory() as place:
        whole = recipe
        if folder is None and isinstance(kind := task_class(recipe), Samples):
            recipe = kind.sample(recipe, Path(place), remark)
        run_folder = Path(place) / "run" if folder is None else folder
        with AllAlike():
            run = runs.open_run(recipe, run_folder, folder is not None, silent, ignore_remark, writes=False)
        report = run.prepared.report if recipe is whole else run.prepared.report[:1]  # without names of temporary files
        named = run if recipe is whole else replace(run, recipe=_with_data(run.recipe, whole))
        for line in [*report, *runs.describe(named)]:
            remark(line)
        if not isinstance(run.task, nn.Module):
            return
        batches = list(_batches(run))
        remark(_rows_in_words(batches, recipe.training.pieces, processes))
        largest = max(batches, key=lambda batch: batch.rows if isinstance(batch, Divisible) else 1)
        remark(_memory_in_words(run, largest, processes))


def _with_data(recipe: Any, other: Any) -> Recipe:
    """Return a recipe with the data of another."""
    changed: Recipe = recipe.model_copy(update={"data": other.data})
    return changed


def _batches(run: runs.Run) -> Iterator[Any]:
    """Yield batches of the first epoch while time lasts."""
    end = time.monotonic() + MOST_SECONDS
    for batch in islice(run.task.batches("train", run.recipe.seed, 0, 0), MOST_BATCHES):
        yield batch
        if time.monotonic() > end:
            return


def _rows_in_words(batches: list[Any], pieces: int, processes: int) -> str:
    rows = [batch.rows if isinstance(batch, Divisible) else 1 for batch in batches]
    sizes = f"{min(rows)} rows" if min(rows) == max(rows) else f"{min(rows)} to {max(rows)} rows"
    text = f"{len(rows)} batches of {sizes} were inspected" if len(rows) > 1 else f"one batch of {sizes} was inspected"
    if pieces > 1:
        share = f"{pieces // processes} for each of {processes} processes" if processes > 1 else "all for one process"
        text += f"; each is cut into {pieces} pieces, {share}"
    few = sum(count < pieces for count in rows)
    return text + (
        f"; {few / len(rows):.0%} of the batches have fewer rows than pieces, which leaves some idle" if few else ""
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
    if training.sharded and processes > 1:  # its share, plus the part that is whole at one time
        at_once = most_at_once(task)
        whole, whole_learnt = _bytes(at_once), _bytes(parameter for parameter in at_once if parameter.requires_grad)
        sizes_by_use = {
            "weights": whole + weights // processes,
            "gradients": whole_learnt + learnt // processes,
            "optimiser": remembered // processes,
        }
    else:
        rows = 1 if training.pieces == 1 else 2 + training.pieces // processes
        sizes_by_use = {"weights": weights, "gradients": learnt * rows, "optimiser": remembered}
    places = {parameter.untyped_storage().data_ptr() for parameter in task.parameters()}
    memory = sizes_by_use | {"activations": sum(size for place, size in sizes.items() if place not in places)}
    parts = ", ".join(f"{name} {size / 1e6:,.0f}" for name, size in memory.items())
    return f"each process holds about {sum(memory.values()) / 1e6:,.0f} MB besides torch itself: {parts}"


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
