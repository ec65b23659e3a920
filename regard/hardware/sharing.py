"""Processes on one GPU: they take turns, or compute at the same time if NVIDIA's Multi-Process Service (MPS) runs."""

import os
import shutil
from pathlib import Path

CONTROL = "nvidia-cuda-mps-control"  # NVIDIA's program that starts MPS; it is part of the driver
START = f"{CONTROL} -d"
_DEFAULT_PIPES = "/tmp/nvidia-mps"  # where MPS itself puts them


def is_shared() -> bool:
    """Return True if MPS runs, so that the processes that start now compute at the same time."""
    pipes = Path(os.environ.get("CUDA_MPS_PIPE_DIRECTORY", _DEFAULT_PIPES))
    return (pipes / "control").exists()


def advice_on_sharing() -> str | None:
    """Return a clause on how processes on a GPU could share it; None if they do, or if MPS is not installed."""
    if is_shared() or shutil.which(CONTROL) is None:
        return None
    return f"processes take turns on the GPU; after `{START}` they compute at the same time, which suits small models"
