"""TF32, float32 with 10 bits of its fraction: products of torch in it, and numbers rounded to it."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

HALF, KEPT = 0x1000, -0x2000  # of a float32: half of the last bit that TF32 keeps, and a mask of all that it keeps


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


def rounded_to_tf32(numbers: Tensor) -> Tensor:
    """Return float32 numbers rounded to what TF32 holds; products in Triton would cut off the other bits."""
    bits = numbers.view(torch.int32)
    rounded = ((bits + HALF) & KEPT).view(torch.float32)
    return torch.where(numbers.isnan(), numbers, rounded)
