"""Arrays by name as the bytes of one file, in which nothing is pickled."""

import io
from collections.abc import Mapping

import numpy as np


def arrays_to_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def arrays_in(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return dict(arrays)
