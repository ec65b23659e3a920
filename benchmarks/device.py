"""The device on which benchmarks of networks run, and how long it works; a GPU works on while Python goes on."""

import time
from collections.abc import Callable

import torch

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def wait() -> None:
    """Until the device has done all that it was given."""
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def seconds_of(work: Callable[[], object]) -> float:
    """From an idle device to one that is idle again."""
    wait()
    began = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - began
