"""How many threads torch has on the CPU beside a GPU: few, for many stand in each other's way while they feed it."""

import os

import torch

from regard.data.workers import cores

ENOUGH = 2  # to hand a GPU its work
CHOSEN = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")  # by whoever set one of these


def threads_beside_gpu() -> int:
    """As many as someone chose, else what is enough.

    Torch by itself takes a thread for each core, or for each two that are halves of one; with fewer than that someone
    has called `torch.set_num_threads`.
    """
    present = torch.get_num_threads()
    is_chosen = any(os.environ.get(name) for name in CHOSEN) or present < cores() // 2
    return present if is_chosen else min(ENOUGH, present)


def suit_threads(device: torch.device) -> None:
    """Give torch the threads that suit a device; beside a CPU that computes, they stay as they are."""
    if device.type == "cuda":
        torch.set_num_threads(threads_beside_gpu())


def share_of_threads(jobs: int, device: torch.device) -> int:
    """The threads of one process when so many work on this device: more than cores would wait for each other."""
    share = max(1, cores() // jobs)
    return min(ENOUGH, share) if device.type == "cuda" else share
