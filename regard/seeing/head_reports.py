"""Reports on a trained model's heads over whole splits: how focused and how diagonal they are."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from regard.attention.reports import HeadReport, merge_reports, report
from regard.attention.watch import Looks, numbered_blocks, watching
from regard.base.faults import Fault
from regard.base.progress import Progress, silent


@torch.no_grad()
def inspect_batches(task: Any, batches: Iterable[Any], progress: Progress = silent) -> list[HeadReport]:
    """A report of every head of a task while it is measured on these batches."""
    refuse_headless(task)
    task.eval()
    reports: list[HeadReport] = []
    for number, batch in enumerate(batches, start=1):
        with watching(task.model) as gazes:
            task.measure(batch)
        if gazes.windows:
            raise Fault("This model looks through windows, which it moves as a whole: it has no heads to report on.")
        reports = merge_reports([*reports, *report(gazes, task.extents(batch))])
        progress("watching", number, None)
    if not reports:
        raise Fault("There is nothing to watch: the split has no batches.")
    return reports


def refuse_headless(task: Any) -> None:
    """Refuse a model without attention."""
    if not any(isinstance(part, Looks) for part in task.modules()):
        raise Fault("This model has no attention, so it has no heads to report on.")


def log_entries(task: Any, reports: Sequence[HeadReport]) -> dict[str, float]:
    """Entropy and diagonal of each head under a name, as a training run logs them."""
    blocks = numbered_blocks(task.model)
    return {
        f"attention/{side}/block-{number}/head-{each.head + 1}/{what}": value
        for each in reports
        for side, number in (blocks[each.where],)
        for what, value in (("entropy-share", each.entropy_share), ("diagonal", each.diagonal))
        if value == value  # where nothing was measured there is nothing to log
    }
