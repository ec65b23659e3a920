"""Fused GPU kernels in Triton, each equivalent to plain torch operations, and CPU loops compiled by numba: for word
vectors, whose updates are too small for torch, and for n-grams.

Users never see them: `regard.models.transformer.packed`, `regard.models.cross_entropy` and others call them if there is
a GPU and Triton. Tests compare each with plain torch, in Triton's interpreter if there is no GPU.
"""

from functools import cache
from importlib.util import find_spec

import torch

OLDEST = (8, 0)  # compute capability of the first GPUs that multiply in bf16


@cache
def obstacle() -> str | None:
    """Return why no kernel can run here, in a few words; None if they can."""
    if not torch.cuda.is_available():
        return "there is no GPU"
    if find_spec("triton") is None:
        return "Triton is not installed"
    if torch.cuda.get_device_capability() < OLDEST:
        return "the GPU is too old for them"
    from regard.kernels.cross_entropy import losses_and_gradients

    device = torch.device("cuda")
    try:
        losses_and_gradients(torch.zeros(1, 2, device=device), torch.zeros(1, dtype=torch.long, device=device), 0.0)
    except Exception as error:  # Triton needs a C compiler and more, and reports this in many ways
        return f"Triton cannot compile them ({str(error).strip().partition(chr(10))[0]})"
    return None


def available() -> bool:
    """Return True if kernels can run here."""
    return obstacle() is None
