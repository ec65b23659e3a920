"""Matrix products in TF32, for a block of code."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def products_in_tf32(allowed: bool) -> Iterator[None]:
    """Compute products in this block in TF32 on a GPU, if allowed; torch has one global setting for this."""
    if not allowed:
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
