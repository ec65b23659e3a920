"""Number of torch's threads: few next to a GPU, which they feed; on a CPU as many as the run started with."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from regard.base.processes import cores

ENOUGH = 2  # threads to feed a GPU
CHOSEN = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")  # variables that mean that the user chose a number


def threads_beside_gpu() -> int:
    """Return the number of threads that the user chose, or else what is enough.

    By default torch takes a thread per core, or per two hyperthreads of one; if there are fewer, someone has called
    `torch.set_num_threads`.
    """
    present = torch.get_num_threads()
    return present if _is_chosen(present) else min(ENOUGH, present)


def _is_chosen(present: int) -> bool:
    return any(os.environ.get(name) for name in CHOSEN) or present < cores() // 2


def suit_threads(device: torch.device) -> None:
    """Give torch the threads that suit a device; on a CPU they stay unchanged."""
    if device.type == "cuda":
        torch.set_num_threads(threads_beside_gpu())


def share_of_threads(jobs: int, device: torch.device) -> int:
    """Return the threads of one process when `jobs` work on this device: with more than cores they would wait."""
    share = max(1, cores() // jobs)
    return min(ENOUGH, share) if device.type == "cuda" else share


@contextmanager
def so_many_threads(count: int) -> Iterator[None]:
    """Give torch this many threads inside this block."""
    present = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(present)


@contextmanager
def same_threads(before: int | None, device: torch.device, remark: Callable[[str], None]) -> Iterator[None]:
    """Give a CPU as many threads as a run had `before` inside this block, since other numbers round sums differently.

    If the user chose another number, or there are too few cores, they stay, and a remark says what that means.
    """
    present = torch.get_num_threads()
    if before is None or before == present or device.type != "cpu":
        yield
    elif before > cores() or _is_chosen(present):
        remark(
            f"this run had {before} threads so far and now has {present}: "
            "it will not end with the same bits as one that was never stopped"
        )
        yield
    else:
        with so_many_threads(before):
            yield
