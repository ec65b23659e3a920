"""Number of torch's threads: few next to a GPU, which they feed; on a CPU as many as the run began with."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from regard.base.processes import cores

ENOUGH = 2  # to hand a GPU its work
CHOSEN = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")  # by whoever set one of these


def threads_beside_gpu() -> int:
    """As many as someone chose, else what is enough.

    Torch by itself takes a thread for each core, or for each two that are halves of one; with fewer than that someone
    has called `torch.set_num_threads`.
    """
    present = torch.get_num_threads()
    return present if _is_chosen(present) else min(ENOUGH, present)


def _is_chosen(present: int) -> bool:
    return any(os.environ.get(name) for name in CHOSEN) or present < cores() // 2


def suit_threads(device: torch.device) -> None:
    """Give torch the threads that suit a device; beside a CPU that computes, they stay as they are."""
    if device.type == "cuda":
        torch.set_num_threads(threads_beside_gpu())


def share_of_threads(jobs: int, device: torch.device) -> int:
    """The threads of one process when so many work on this device: more than cores would wait for each other."""
    share = max(1, cores() // jobs)
    return min(ENOUGH, share) if device.type == "cuda" else share


@contextmanager
def so_many_threads(count: int) -> Iterator[None]:
    """Inside this block torch has so many threads."""
    present = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(present)


@contextmanager
def same_threads(before: int | None, device: torch.device, remark: Callable[[str], None]) -> Iterator[None]:
    """Inside this block a CPU has as many threads as a run had `before`, for other numbers round its sums otherwise.

    Where someone chose another number, or there are too few cores, they stay, and it is remarked what that means.
    """
    present = torch.get_num_threads()
    if before is None or before == present or device.type != "cpu":
        yield
    elif before > cores() or _is_chosen(present):
        remark(
            f"so far this run had {before} threads and now it has {present}: "
            "it will not end with the same bits as one that was never stopped"
        )
        yield
    else:
        with so_many_threads(before):
            yield
