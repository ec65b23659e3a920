"""Fused kernels for a GPU, written in Triton, each beside the torch operations that it stands for.

Whoever trains never sees them: `regard.models.packed` and `regard.models.cross_entropy` call them where there are a GPU
and Triton, and tests hold each to plain torch, in Triton's interpreter where there is no GPU.
"""

from functools import cache
from importlib.util import find_spec


@cache
def available() -> bool:
    """Whether kernels can be compiled here; torch brings Triton along where it is built for a GPU."""
    return find_spec("triton") is not None
