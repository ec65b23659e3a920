"""Reports on a trained model's heads over whole splits: how focused and how diagonal they are."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from regard.attention.reports import HeadReport, merge_reports, report
from regard.attention.watch import Gaze, Looks, numbered_blocks, watching
from regard.base.faults import Fault
from regard.base.progress import Progress, silent


@torch.no_grad()
def inspect_batches(task: Any, batches: Iterable[Any], progress: Progress = silent) -> list[HeadReport]:
    """Return a report on every head while the task is measured on these batches."""
    refuse_headless(task)
    task.eval()
    reports: list[HeadReport] = []
    for number, batch in enumerate(batches, start=1):
        with watching(task.model) as gazes:
            task.measure(batch)
        if gazes.windows:
            raise Fault("This model looks through windows instead of heads, so there are no heads to report on.")
        for gaze, _, extents in with_extents(gazes, task.extents(batch)):
            reports = merge_reports([*reports, *report([gaze], extents)])
        progress("watching", number, None)
    if not reports:
        raise Fault("There is nothing to watch: the split has no batches.")
    return reports


def with_extents(gazes: Iterable[Gaze], extents: Mapping[str, Tensor]) -> Iterator[tuple[Gaze, int, dict[str, Tensor]]]:
    """Yield each gaze with the number of its first row in the batch and the lengths of its rows.

    A task may measure a large batch in pieces, a few rows at a time, and read it more than once; each attention then
    has several gazes.
    """
    seen: dict[str, int] = defaultdict(int)
    whole = len(next(iter(extents.values())))
    for gaze in gazes:
        first, rows = seen[gaze.where] % whole, len(gaze.weights)
        seen[gaze.where] += rows
        yield gaze, first, {side: lengths[first : first + rows] for side, lengths in extents.items()}


def refuse_headless(task: Any) -> None:
    """Refuse a model without attention."""
    if not any(isinstance(part, Looks) for part in task.modules()):
        raise Fault("This model has no attention, so it has no heads to report on.")


def log_entries(task: Any, reports: Sequence[HeadReport]) -> dict[str, float]:
    """Return the entropy and diagonal of each head by name, as a training run logs them."""
    blocks = numbered_blocks(task.model)
    return {
        f"attention/{side}/block-{number}/head-{head.head + 1}/{what}": value
        for head in reports
        for side, number in (blocks[head.where],)
        for what, value in (("entropy-share", head.entropy_share), ("diagonal", head.diagonal))
        if value == value  # NaN: nothing was measured
    }
