"""Promises about learning: batches, losses, measures and resumed runs."""

import math
import random
import threading
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.promises.purity import pure
from regard.promises.trial import Broken, DoesNotApply, Trial, open_toy
from regard.protocols import Divisible, Learns, Measure, MeasuresRows
from regard.runs.open import Run
from regard.runs.train import train
from regard.training.checkpoint import WEIGHTS, bytes_to_weights
from regard.training.events import Counted, Event, Hurried, Stepped


def values(tree: Any) -> list[Any]:
    """Return everything in a batch, with arrays as bits."""
    if isinstance(tree, Tensor | np.ndarray):
        array = tree.numpy(force=True) if isinstance(tree, Tensor) else tree
        return [(array.dtype.str, array.shape, array.tobytes())]
    if is_dataclass(tree):
        return [value for field in fields(tree) for value in values(getattr(tree, field.name))]
    if isinstance(tree, dict):
        return [value for name in tree for value in (name, *values(tree[name]))]
    if isinstance(tree, list | tuple):
        return [value for item in tree for value in values(item)]
    return [tree]


def _batches(task: Any, start: int = 0, split: str = "train") -> list[Any]:
    return [repr(values(batch)) for batch in task.batches(split, 3, 1, start)]


def same_batches_from_any_start(trial: Trial) -> None:
    """Batches are a pure function of split, seed, epoch and number; none uses global random numbers."""
    for split in ("train", "valid"):
        whole = [repr(values(batch)) for batch in pure(trial.run.task.batches(split, 3, 1, 0))]
        if not whole:
            raise Broken(f"there are no batches of the split {split}")
        random.seed(1), np.random.seed(1), torch.manual_seed(1)
        for start in {0, 1, len(whole) // 2, len(whole)}:
            if _batches(trial.run.task, start, split) != whole[start:]:
                raise Broken(f"the {split} batches from number {start} on differ from those of a whole epoch")


def same_batches_in_another_thread(trial: Trial) -> None:
    """Batches are the same in another thread while this one draws random numbers."""
    whole, batches, drawing = _batches(trial.run.task), list[Any](), threading.Event()

    def work() -> None:
        drawing.wait()
        batches.extend(_batches(trial.run.task))

    thread = threading.Thread(target=work)
    thread.start()
    number = 0
    while thread.is_alive():
        torch.manual_seed(number), np.random.seed(number), random.seed(number)
        torch.rand(3), np.random.rand(3), random.random()
        number += 1
        drawing.set()
    if batches != whole:
        raise Broken("the batches of another thread differ from those of this one")


def stop_after(events: int) -> Callable[[Event], str | None]:
    """Return a listener that stops a run after it has learnt from `events` batches."""
    seen: list[Event] = []

    def listen(event: Event) -> str | None:
        seen.extend([event] if isinstance(event, Stepped | Counted) else [])
        return Hurried("enough") if len(seen) == events else None

    return listen


def resumed_is_never_stopped(trial: Trial) -> None:
    """A run that was stopped between two checkpoints and resumed has the same weights, bit for bit."""
    with TemporaryDirectory() as other:
        folder = Path(other)
        if train(open_toy(trial.family, trial.toy, folder), [stop_after(3)]).finished:
            raise Broken("a run that should stop after its third batch continued to its end")
        if not train(open_toy(trial.family, trial.toy, folder), []).finished:
            raise Broken("a resumed run did not reach its end")
        folders = (trial.run.folder.folder, folder / "run")
        whole, resumed = (bytes_to_weights((place / WEIGHTS).read_bytes(), WEIGHTS) for place in folders)
    if whole.keys() != resumed.keys():
        raise Broken("a resumed run has other names of weights than an uninterrupted one")
    if other_weight := next((name for name in whole if not torch.equal(whole[name], resumed[name])), None):
        raise Broken(f"the weight {other_weight} of a resumed run differs from that of an uninterrupted one")


def exact(run: Run) -> Any:
    """Return the task of a run in float64, without dropout."""
    task = deepcopy(run.task)
    return task.double().eval() if isinstance(task, nn.Module) else task


def divisible(run: Run, split: str) -> Iterator[Any]:
    """Yield the batches of a split that can be split, in float64."""
    for batch in run.task.batches(split, 3, 0, 0):
        if isinstance(batch, Divisible) and batch.rows > 1:
            yield in_float64(batch)


def in_float64(tree: Any) -> Any:
    """Return a batch with its floating-point numbers in float64."""
    if isinstance(tree, Tensor):
        return tree.double() if tree.is_floating_point() else tree
    if is_dataclass(tree) and not isinstance(tree, type):
        return replace(tree, **{field.name: in_float64(getattr(tree, field.name)) for field in fields(tree)})
    return tree


def splitting_changes_nothing(trial: Trial) -> None:
    """A batch in pieces gives the same loss and gradients as the whole."""
    if not isinstance(trial.run.task, Learns):
        raise DoesNotApply("it has no loss")
    if trial.toy.draws:
        raise DoesNotApply("its loss uses random numbers")
    task = exact(trial.run)
    batch = next(divisible(trial.run, "train"), None)
    if batch is None:
        raise DoesNotApply("its batches cannot be split")
    whole = _loss_and_gradients(task, [batch])
    for pieces in (batch.split(2), batch.split(batch.rows)):
        try:
            torch.testing.assert_close(_loss_and_gradients(task, pieces), whole)
        except AssertionError as error:
            first = str(error).splitlines()[0].rstrip(".")
            raise Broken(f"in {len(pieces)} pieces a batch gives another loss or gradients: {first}") from None


def _loss_and_gradients(task: Any, pieces: Any) -> tuple[Any, Any, dict[str, Tensor]]:
    task.zero_grad()
    losses = [task.loss(piece) for piece in pieces]
    for loss in losses:
        loss.total.backward()
    gradients = {name: parameter.grad for name, parameter in task.named_parameters() if parameter.grad is not None}
    return sum(loss.total.detach() for loss in losses), sum(loss.count for loss in losses), gradients


def numbers(measures: dict[str, Measure]) -> dict[str, tuple[float, ...]]:
    """Return the values of measures, for each member."""
    return {name: measure.members for name, measure in measures.items()}


def _close(one: tuple[float, ...], two: tuple[float, ...], relative: float = 1e-6) -> bool:
    return len(one) == len(two) and all(
        math.isclose(a, b, rel_tol=relative, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b))
        for a, b in zip(one, two, strict=True)
    )


def refuse_other_numbers(
    measured: dict[str, tuple[float, ...]], expected: dict[str, tuple[float, ...]], what: str, relative: float = 1e-6
) -> None:
    """Refuse measures that differ from the expected ones."""
    if measured.keys() != expected.keys():
        raise Broken(f"{what} gives the measures {', '.join(measured)}, expected {', '.join(expected)}")
    for name, members in expected.items():
        if not _close(measured[name], members, relative):
            raise Broken(f"{what} gives {name} {measured[name][0]:.8g}, expected {members[0]:.8g}")


def batch_mates_change_nothing(trial: Trial) -> None:
    """Rows measured one by one add up to the measures of the batch."""
    task = exact(trial.run)
    with torch.no_grad():
        for batch in divisible(trial.run, "valid"):
            first, *others = [task.measure(piece) for piece in batch.split(batch.rows)]
            alone = {name: sum((other[name] for other in others), measure) for name, measure in first.items()}
            refuse_other_numbers(numbers(task.measure(batch)), numbers(alone), "a whole batch")


def rows_add_up(trial: Trial) -> None:
    """Check that the contributions of a batch's rows sum to each measure."""
    task = exact(trial.run)
    if not isinstance(task, MeasuresRows):
        raise DoesNotApply("it does not measure row by row")
    for batch in divisible(trial.run, "valid"):
        measures, rows = task.measure(batch), task.sums_of_rows(batch)
        if any(sums.shape[0] != batch.rows for sums in rows.values()):
            raise Broken(f"sums_of_rows does not give a row for each of the {batch.rows} rows of a batch")
        totals = {name: tuple(sums.sum(dim=0).tolist()) for name, sums in rows.items()}
        expected = {name: tuple(map(float, measure.tally.sums)) for name, measure in measures.items()}
        refuse_other_numbers(totals, expected, "the sum over all rows")


def measures_are_judged(trial: Trial) -> None:
    """Each measure says which direction is better, and training.best_by is one of them."""
    batch = next(iter(trial.run.task.batches("valid", 0, 0, 0)))
    with torch.no_grad():
        measures = trial.run.task.measure(batch)
    if odd := [name for name, measure in measures.items() if measure.better not in ("lower", "higher")]:
        raise Broken(f"the measure {odd[0]} does not say whether lower or higher is better")
    best_by = getattr(trial.run.recipe.training, "best_by", next(iter(measures)))
    if best_by not in measures:
        raise Broken(f"training.best_by is {best_by}, which is not among the measures {', '.join(measures)}")


def tallies_are_printed_and_kept(trial: Trial) -> None:
    """Check that a loss's tallies are printed at each step and kept in the run."""
    if not isinstance(trial.run.task, Learns):
        raise DoesNotApply("it has no loss")
    task: Any = deepcopy(trial.run.task)
    facts = trial.facts
    names = task.loss(next(iter(task.batches("train", 3, 0, 0)))).tallies.keys()
    if unprinted := [name for name in names if f"  {name} " not in trial.printed]:
        raise Broken(f"the tally {unprinted[0]} is not printed")
    if [step for step, _ in facts.losses] != list(range(1, facts.step + 1)):
        raise Broken("the losses of some steps are not kept")
    expected = len(facts.losses) if names else 0
    if len(facts.tallies) != expected or any(tallies.keys() != names for _, tallies in facts.tallies):
        raise Broken("the tallies of some steps are not kept")
